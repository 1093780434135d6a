import type { ClientClock } from '../../client/index.ts'
import type { Surroundings } from '../surroundings.ts'
import { cut } from './display-width.ts'

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const frameMs = 100
const eraseLine = '\r\u001b[2K'

/** The picture of a spinner at an instant. */
export function spinnerFrame(at: number): string {
  return frames[Math.floor(at / frameMs) % frames.length] ?? ''
}

/** Calls back as often as a spinner turns, and returns what ends that. */
export function eachFrame(clock: ClientClock, draw: () => void): () => void {
  let timer = clock.setTimer(frameMs, turn)
  function turn(): void {
    draw()
    timer = clock.setTimer(frameMs, turn)
  }
  return () => timer.cancel()
}

/**
 * A line at the bottom of a terminal that says what goes on, on stderr. It is only there while the cursor stands at the
 * beginning of a line: what is written meanwhile goes through it, which takes it away first. Elsewhere than on a terminal it is nothing.
 */
export class StatusLine {
  readonly #around: Surroundings
  readonly #text: () => string
  readonly #stop: () => void
  #isDrawn = false
  #isLineOpen = false

  constructor(around: Surroundings, isOn: boolean, text: () => string) {
    this.#around = around
    this.#text = text
    const isDrawable = around.isTty.err && around.env['TERM'] !== 'dumb'
    this.#stop = isOn && isDrawable ? eachFrame(around.clock, () => this.#draw()) : () => {}
  }

  /** Writes data. */
  out(text: string): void {
    if (text === '') return
    this.#erase()
    this.#around.out(text)
    // A file that is written to does not move the cursor of the terminal.
    if (this.#around.isTty.out) this.#isLineOpen = !text.endsWith('\n')
  }

  /** Writes whatever else goes to the terminal, on a line of its own. */
  aside(write: () => void): void {
    this.#erase()
    if (this.#isLineOpen) this.#around.out('\n')
    this.#isLineOpen = false
    write()
  }

  close(): void {
    this.#stop()
    this.aside(() => {})
  }

  #draw(): void {
    const { err, columns, clock } = this.#around
    if (this.#isLineOpen) return
    err(`${eraseLine}${cut(`${spinnerFrame(clock.now())} ${this.#text()}`, columns() - 1)}`)
    this.#isDrawn = true
  }

  #erase(): void {
    if (this.#isDrawn) this.#around.err(eraseLine)
    this.#isDrawn = false
  }
}
