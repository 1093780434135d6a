#!/usr/bin/env node
// Plain enough that a Node of years ago can read it: that one has to be told what is missing.
import { existsSync } from 'node:fs'
import * as module from 'node:module'

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
  const around = {
    env: process.env,
    folder: process.cwd(),
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  }
  // A reader that went away is no reason to stop working.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  return cli.main(process.argv.slice(2), around).then((code) => {
    if (code !== undefined) process.exit(code)
  })
}

start()
