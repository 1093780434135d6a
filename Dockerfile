# An image of `holdfast serve`, for SQLite on a volume and for PostgreSQL.
#   docker build --tag holdfast .
#   docker run --rm --env HOLDFAST_TOKEN --publish 127.0.0.1:4747:4747 --volume holdfast:/var/lib/holdfast holdfast
# For a cluster it has a tag that names a registry and a version: deploy/kubernetes.yaml.
# Agents of your own: FROM holdfast, copy holdfast.config.ts to /srv, install in /app what it imports.

FROM node:24-bookworm-slim AS build
WORKDIR /app
# The Node of the image comes first: among the packages there is one as well, whose script is not run.
ENV PATH=$PATH:/app/node_modules/.bin
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node scripts/build.ts

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# What is needed to run, and the driver of PostgreSQL, in the version that the tests have used.
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund --save-prod \
  "pg@$(node -p "require('./package-lock.json').packages['node_modules/pg'].version")"

FROM node:24-bookworm-slim
ENV NODE_ENV=production XDG_STATE_HOME=/var/lib
RUN install --directory --owner=node --group=node --mode=0700 /var/lib/holdfast
COPY --from=packages /app/package.json /app/package.json
COPY --from=packages /app/node_modules /app/node_modules
COPY --from=build /app/bin /app/bin
COPY --from=build /app/dist /app/dist
# A config file is looked for where the program is started.
WORKDIR /srv
USER node
VOLUME /var/lib/holdfast
EXPOSE 4747
# The process is told directly, and drains; it starts no others, so nobody has to gather them.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4747/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/holdfast.js"]
# On this address a server starts with a configured token only: HOLDFAST_TOKEN or HOLDFAST_TOKENS.
CMD ["serve", "--host", "0.0.0.0"]
