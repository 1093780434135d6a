import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'

// Biome formats and lints; ESLint is here for the rules that need types, and for the limits of STYLE.

const time = 'Time comes from the passed-in Clock.'

const timers = [
  { name: 'setTimeout', message: `${time} Use clock.setTimer; a test moves the manual clock or waits for an event.` },
  { name: 'setInterval', message: `${time} Use clock.setTimer; a test moves the manual clock or waits for an event.` },
]

const timerModules = ['node:timers', 'node:timers/promises'].map((name) => ({
  name,
  importNames: ['setTimeout', 'setInterval', 'scheduler'],
  message: time,
}))

const timerMembers = [
  {
    selector: "MemberExpression[object.name='globalThis'][property.name=/^set(Timeout|Interval)$/]",
    message: time,
  },
]

const clockReads = [
  { selector: "MemberExpression[object.name='Date'][property.name='now']", message: time },
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: time },
  { selector: "CallExpression[callee.name='Date']", message: time },
  { selector: "MemberExpression[object.name='AbortSignal'][property.name='timeout']", message: time },
]

const environment = {
  syntax: {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: 'Settings are passed in; only the CLI reads the environment, and where the state folder is.',
  },
  module: { name: 'node:process', importNames: ['env'], message: 'Settings are passed in.' },
}

const functionLinesMax = 70

/** `max-lines-per-function` for tests: a suite is as long as its tests, so a function that registers tests is exempt. */
const testFunctionLines = {
  meta: {
    type: 'suggestion',
    messages: { tooLong: `This function has {{lines}} lines; ${functionLinesMax} is the limit.` },
  },
  create(context) {
    const registers = (node) =>
      node.type === 'CallExpression' && /^(describe|it|test)\b/.test(context.sourceCode.getText(node.callee))
    const isSuite = (node) =>
      registers(node.parent)
        ? /^describe\b/.test(context.sourceCode.getText(node.parent.callee))
        : node.body.type === 'BlockStatement' &&
          node.body.body.some(({ expression }) => expression && registers(expression))
    const check = (node) => {
      const lines = node.loc.end.line - node.loc.start.line + 1
      if (lines > functionLinesMax && !isSuite(node)) context.report({ node, messageId: 'tooLong', data: { lines } })
    }
    return { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check }
  },
}

export default defineConfig(
  { ignores: ['dist/', 'dist-docs/', 'node_modules/', '.vitest/'] },
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: {
      '@typescript-eslint': tseslint.plugin,
      holdfast: { rules: { 'test-function-lines': testFunctionLines } },
    },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'max-lines': ['error', { max: 500 }],
      'max-lines-per-function': ['error', { max: functionLinesMax }],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-globals': ['error', ...timers],
      'no-restricted-imports': ['error', { paths: [...timerModules, environment.module] }],
      'no-restricted-syntax': ['error', ...timerMembers, ...clockReads, environment.syntax],
    },
  },
  {
    // Pure code only: elsewhere a field may change behind an await, which the rule does not see.
    files: ['src/core/**/*.ts', 'src/protocol/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unnecessary-condition': 'error',
    },
  },
  {
    files: ['src/cli/**/*.ts', 'src/server/state-folder.ts'],
    rules: {
      'no-restricted-imports': ['error', { paths: timerModules }],
      'no-restricted-syntax': ['error', ...timerMembers, ...clockReads],
    },
  },
  {
    files: ['src/{runtime,client,stores/postgres,stores/sqlite}/clock.ts'],
    rules: {
      'no-restricted-globals': 'off',
      'no-restricted-imports': ['error', { paths: [environment.module] }],
      'no-restricted-syntax': ['error', environment.syntax],
    },
  },
  {
    files: ['tests/**/*.{ts,tsx}'],
    rules: {
      'max-lines-per-function': 'off',
      'holdfast/test-function-lines': 'error',
      'no-restricted-globals': ['error', ...timers],
      'no-restricted-imports': ['error', { paths: timerModules }],
      'no-restricted-syntax': ['error', ...timerMembers],
    },
  },
)
