import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const migrations = 'src/stores/postgres/migrations'

// As much as a minor may do: add. Everything that is written to gains something that the older does not know.
const addition = `
  ALTER TABLE holdfast.tasks ADD COLUMN later text;
  ALTER TABLE holdfast.threads ADD COLUMN later bigint NOT NULL DEFAULT 0;
  ALTER TABLE holdfast.chunks ADD COLUMN later text COLLATE "C";
  ALTER TABLE holdfast.messages ADD COLUMN later boolean NOT NULL DEFAULT false;
  ALTER TABLE holdfast.nodes ADD COLUMN later jsonb;
  ALTER TABLE holdfast.lanes ADD COLUMN later text;
  CREATE TABLE holdfast.notes (thread bigint NOT NULL, text text NOT NULL);
  CREATE INDEX tasks_by_later ON holdfast.tasks (later) WHERE later IS NOT NULL;
  CREATE FUNCTION holdfast.later() RETURNS integer LANGUAGE sql AS 'SELECT 1';
`

/** The program as its next minor may be: with one more migration. Says where it is and what its schema is. */
export function nextMinor(): { readonly program: string; readonly minor: number } {
  const parent = join(root, '.vitest')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'next-minor-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const part of ['bin', 'src', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true })
  const minor = readdirSync(join(root, migrations)).length + 1
  writeFileSync(join(folder, migrations, `${String(minor).padStart(4, '0')}_next.sql`), addition)
  return { program: join(folder, 'bin/holdfast.js'), minor }
}
