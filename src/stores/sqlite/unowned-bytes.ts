import { fstatSync, readSync, writeSync } from 'node:fs'

// First bytes of pages that hold cells: interior and leaf pages of indexes and tables. Any other page begins with the number
// of another page, or with zero, so its first byte is 0 as long as numbers stay below the bound.
const interiorTypes: ReadonlySet<number> = new Set([2, 5])
const leafTypes: ReadonlySet<number> = new Set([10, 13])

/** From this number of pages on the first byte of a page does not tell what it is. It is 256 GiB away. */
export const pageCountBound = 0x0200_0000

// The first page begins with the header of the file.
const fileHeaderBytes = 100
const pageSizeAt = 16
const blockBytes = 1_048_576

/**
 * Zeroes what lies between the cell pointers and the cells of every page of a database file, which belongs to no row. When
 * SQLite distributes rows over pages anew it leaves copies of them there, `secure_delete` or not.
 *
 * Nobody may write to the file meanwhile, and nothing of it may wait in a write-ahead log. Whoever reads is not disturbed, and
 * neither is the database if it stops half way: those bytes mean nothing.
 */
export function zeroUnownedBytes(file: number): void {
  const pageBytes = readPageBytes(file)
  const block = Buffer.alloc(Math.max(blockBytes, pageBytes))
  const zeros = Buffer.alloc(pageBytes)
  const fileBytes = fstatSync(file).size
  for (let at = 0; at < fileBytes; at += block.length) {
    const length = readSync(file, block, 0, block.length, at)
    for (let begin = 0; begin + pageBytes <= length; begin += pageBytes) {
      const headerBytes = at + begin === 0 ? fileHeaderBytes : 0
      const gap = gapOf(block.subarray(begin, begin + pageBytes), headerBytes)
      if (!gap || block.subarray(begin + gap.from, begin + gap.to).equals(zeros.subarray(gap.from, gap.to))) continue
      writeSync(file, zeros, 0, gap.to - gap.from, at + begin + gap.from)
    }
  }
}

function readPageBytes(file: number): number {
  const header = Buffer.alloc(2)
  readSync(file, header, 0, 2, pageSizeAt)
  const size = header.readUInt16BE(0)
  // The largest size does not fit into the field.
  return size === 1 ? 65_536 : size
}

/** Where the unallocated part of a page is, if it has one. What does not fit together is left alone. */
function gapOf(page: Buffer, header: number): { readonly from: number; readonly to: number } | undefined {
  const type = page.readUInt8(header)
  if (!interiorTypes.has(type) && !leafTypes.has(type)) return undefined
  const pointersAt = header + (interiorTypes.has(type) ? 12 : 8)
  const from = pointersAt + 2 * page.readUInt16BE(header + 3)
  const contentAt = page.readUInt16BE(header + 5)
  const to = contentAt === 0 ? 65_536 : contentAt
  return from < to && to <= page.length ? { from, to } : undefined
}
