import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

/** Disks of the tests' own, unmounted by `unmountAll`. Mounting needs rights that not everybody has. */
export class Mounts {
  readonly #folders: string[] = []

  /** A disk in memory of so many MiB. Throws where it cannot be had. */
  memory(folder: string, sizeMib: number): void {
    this.#mount(folder, ['-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'tmpfs'])
  }

  /** A file system in a file that is there. What was not synced stays out of the file for minutes. */
  image(folder: string, image: string): void {
    this.#mount(folder, ['-t', 'ext4', '-o', 'loop,commit=300', image])
  }

  unmountAll(): void {
    for (const folder of this.#folders.splice(0)) execFileSync('umount', [folder], { stdio: 'pipe' })
  }

  #mount(folder: string, args: readonly string[]): void {
    mkdirSync(folder, { recursive: true })
    execFileSync('mount', [...args, folder], { stdio: 'pipe' })
    this.#folders.push(folder)
  }
}
