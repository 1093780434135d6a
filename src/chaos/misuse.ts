/** What was asked for cannot be done. The message is for whoever asked, and says it all. */
export class Misuse extends Error {
  override readonly name = 'Misuse'
}
