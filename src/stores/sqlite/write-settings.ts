import { pageCountBound } from './unowned-bytes.ts'

// A commit writes every page it touches, and one that accepts a run touches twelve
// (docs/decisions/0006-small-pages.md and 0019).
export const pageBytes = 4_096
// A commit that has to move this many pages into the file takes a few milliseconds longer; more pages stall everybody
// for tens of them at once (docs/decisions/0004-small-checkpoints.md).
export const checkpointPages = 1_000

export interface WriteSettings {
  /** A commit that finds more pages than these in the log moves them into the file; 0 leaves that to another connection. */
  readonly checkpointPages: number
  readonly cacheKib: number
  /** The most pages the file may have; what would need more is refused as if the disk were full. */
  readonly pageCountMax: number | undefined
}

/** Settings of a connection that writes. */
export function writeSettings({ checkpointPages, cacheKib, pageCountMax }: WriteSettings): string {
  return `
    PRAGMA synchronous = FULL;
    -- Where an fsync leaves data in the disk's own cache (macOS), ask for more.
    PRAGMA fullfsync = ON;
    PRAGMA wal_autocheckpoint = ${checkpointPages};
    PRAGMA cache_size = -${cacheKib};
    PRAGMA max_page_count = ${Math.min(pageCountMax ?? pageCountBound, pageCountBound - 1)};
    -- What is deleted is overwritten, and nothing of it is put into files of its own on the way
    -- (docs/decisions/0005-erase-leaves-no-bytes.md).
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;`
}
