import type { TestProject } from 'vitest/node'
import { buildProgram } from './program.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The program that servers of the tests run, put together once for all of them. */
    readonly program: string
  }
}

export async function setup(project: TestProject): Promise<void> {
  project.provide('program', await buildProgram())
  // Who watches the tests has changed something.
  project.onTestsRerun(async () => void (await buildProgram()))
}
