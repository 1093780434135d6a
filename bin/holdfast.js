#!/usr/bin/env node
// Plain enough that a Node of years ago can read it: that one has to be told what is missing.
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import * as tty from 'node:tty'

const nodeMajorMin = 24

function start() {
  if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
    process.stderr.write(`holdfast: Node ${nodeMajorMin} or later is needed; this is ${process.versions.node}\n`)
    process.exit(1)
  }
  // What was compiled once needs no compiler in memory at the next start.
  module.enableCompileCache()
  // In a clone the sources run as they are; what is published has them compiled.
  const source = new URL('../src/cli/main.ts', import.meta.url)
  const compiled = new URL('../dist/cli/main.js', import.meta.url)
  return import((existsSync(source) ? source : compiled).href).then(run)
}

function run(cli) {
  const args = process.argv.slice(2)
  const complain = (text) => process.stderr.write(cli.complaint(args, text))
  let unwritten
  // A reader that went away is told to whoever wants to know; a server works on.
  process.stdout.on('error', (error) => {
    if (error.code !== 'EPIPE') unwritten = error
  })
  process.stderr.on('error', () => {})
  // Whoever waits for what can never come would else seem to have done its work.
  const halt = () => {
    complain('It came to a halt before it was done; does the config file wait for something that never comes?')
    process.exitCode = 1
  }
  process.once('beforeExit', halt)
  return cli.main(args, surroundings()).then((code) => {
    process.off('beforeExit', halt)
    if (code === undefined) return
    const exit = () => {
      if (unwritten) complain(`What it printed could not be written: ${unwritten.message}`)
      process.exit(unwritten ? code || 1 : code)
    }
    // After what was written has left the process, and what went wrong with it was told.
    process.stdout.write('', () => setImmediate(exit))
  })
}

function surroundings() {
  return {
    env: process.env,
    // Asked for late: that it is gone is told as any other error.
    get folder() {
      return process.cwd()
    },
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    get input() {
      return process.stdin
    },
    isTty: { out: tty.isatty(1), err: tty.isatty(2), input: tty.isatty(0) },
    columns: () => process.stdout.columns || process.stderr.columns || 80,
    rows: () => process.stdout.rows || process.stderr.rows || 24,
    onInterrupt: (listener) => on(process, 'SIGINT', listener),
    onOutputClosed: (listener) => on(process.stdout, 'error', listener),
    clock: {
      now: () => Date.now(),
      setTimer(afterMs, fire) {
        const timer = setTimeout(fire, afterMs)
        return { cancel: () => clearTimeout(timer) }
      },
    },
  }
}

function on(emitter, event, listener) {
  emitter.on(event, listener)
  return () => emitter.off(event, listener)
}

start()
