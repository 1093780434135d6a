import { registerHooks } from 'node:module'

// As on a machine where nobody has installed it: it is looked for where it is not.
registerHooks({
  resolve(specifier, context, next) {
    return next(specifier, specifier === 'pg' ? { ...context, parentURL: 'file:///nowhere/program.js' } : context)
  },
})
