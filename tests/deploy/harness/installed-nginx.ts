import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { freePort } from '../../../src/chaos/postgres/free-port.ts'
import { fileText } from './formats.ts'

/** Whether the machine has one. */
export const hasNginx = spawnSync('nginx', ['-v']).status === 0

/** Starts it for one test with `deploy/nginx.conf`, before nodes at these ports; resolves with its URL. */
export async function startNginx(ports: readonly number[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-nginx-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const config = `daemon off; pid ${folder}/pid; error_log ${folder}/log;
    events {}
    http { access_log off; ${temporary.join(' ')} ${withNodes(ports, port)} }`
  writeFileSync(join(folder, 'nginx.conf'), config)
  const nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'log')], { stdio: 'ignore' })
  onTestFinished(async () => {
    const ended = once(nginx, 'exit')
    if (nginx.exitCode === null && nginx.kill()) await ended
    rmSync(folder, { recursive: true, force: true })
  })
  const isThere = async () => nginx.exitCode ?? fetch(url).then(() => 'there')
  await expect.poll(isThere).toBe('there')
  return url
}

/** The file as it is, but for what a machine of its own would have: names of nodes, a certificate, port 443. */
function withNodes(ports: readonly number[], port: number): string {
  return ['node-a', 'node-b', 'node-c']
    .reduce((text, name, n) => text.replaceAll(`${name}:4747`, `127.0.0.1:${ports[n]}`), fileText('deploy/nginx.conf'))
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
    .replaceAll(/ssl_certificate.*;/g, '')
}
