import { expect, it } from 'vitest'
import { migrations, migrationText } from '../../../src/stores/postgres/migrations.ts'

const comments = /--.*$/gm
const changing = /\b(?:CREATE\s+OR\s+REPLACE|DROP|ALTER\s+(?:FUNCTION|PROCEDURE|ROUTINE))\b/gi

it.each(migrations())('the migration $name on PostgreSQL only adds, and changes no function', (migration) => {
  expect(migrationText(migration).replaceAll(comments, '').match(changing)).toBeNull()
})
