/** A node as clients see it. */
export interface ServedNode {
  readonly name: string
  /** Where it is now. A node that comes back may be elsewhere. */
  readonly url: string
  /** The same over a line that breaks. */
  readonly breakingUrl: string
  /** Clients may ask it. One that is frozen or dead may not be up, or nobody may know yet. */
  readonly isUp: boolean
  /** Its process, if that is a child of this one. */
  readonly pid?: number | undefined
  /** Counts its processes. */
  readonly life: number
}
