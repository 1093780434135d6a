import type { TestProject } from 'vitest/node'
import { startServer } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a server that all files of the project share; each test has a schema of its own in it. */
    readonly postgresUrl: string
  }
}

/** Starts one server for all test files of a project. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer()
  project.provide('postgresUrl', server.url)
  return () => server.stop()
}
