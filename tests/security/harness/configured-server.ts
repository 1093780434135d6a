import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OwnedProcess } from '../../server/harness/owned-process.ts'
import { makeFolder, type StartOptions, TestServer } from '../../server/harness/server.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
export const program = join(root, 'bin/holdfast.js')

/** A server with a config file, in which `holdfast` means the sources. */
export class ConfiguredServer extends TestServer {
  readonly #config: string

  private constructor(options: StartOptions, folder: string, config: string) {
    super(options, folder)
    this.#config = join(folder, 'holdfast.config.ts')
    writeFileSync(this.#config, config.replaceAll("from 'holdfast'", `from '${join(root, 'src/index.ts')}'`))
  }

  static async start(options: StartOptions, config: string): Promise<ConfiguredServer> {
    const server = new ConfiguredServer(options, await makeFolder(), config)
    try {
      await server.start()
    } catch (error) {
      await server.end()
      throw error
    }
    return server
  }

  protected override launch(env: Readonly<Record<string, string>>): OwnedProcess {
    return new OwnedProcess({ arguments: [program, 'serve', '--port', '0', '--config', this.#config], env })
  }
}
