const cells = 20

/** How far a task says it is: `█████░░░░░ 50 %`. */
export function progressBar(value: number): string {
  const within = Math.min(1, Math.max(0, value))
  const done = Math.round(within * cells)
  return `${'█'.repeat(done)}${'░'.repeat(cells - done)} ${percent(within)}`
}

export function percent(value: number): string {
  return `${Math.round(value * 100)} %`
}
