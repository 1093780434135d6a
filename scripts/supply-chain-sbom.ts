// Prints the bill of materials of the package, or writes it into the file that is named.
import { writeFileSync } from 'node:fs'
import { sbomOf } from './supply-chain/sbom.ts'
import { readShipment } from './supply-chain/shipped.ts'

const { lock, packages, direct } = readShipment()
const text = `${JSON.stringify(sbomOf(lock, packages, direct), undefined, 2)}\n`
const [path] = process.argv.slice(2)
if (path === undefined) process.stdout.write(text)
else writeFileSync(path, text)
