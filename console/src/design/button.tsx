import type { ComponentProps } from 'react'
import { classes } from './classes.ts'

type Look = 'solid' | 'plain' | 'quiet' | 'danger'

export interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: Look
  /** A square for an icon; it needs an `aria-label`. */
  readonly isIcon?: boolean
}

const looks: Readonly<Record<Look, string>> = {
  solid: 'bg-accent-fill text-on-accent hover:brightness-110',
  plain: 'bg-panel text-ink border border-line hover:bg-hover hover:border-line-strong',
  quiet: 'text-ink-soft hover:bg-hover hover:text-ink',
  danger: 'bg-panel text-bad border border-line hover:bg-bad-soft hover:border-bad',
}

export function Button({ look = 'plain', isIcon = false, className, type = 'button', ...rest }: ButtonProps) {
  return (
    <button
      type={type}
      className={classes(
        'inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none',
        'transition-colors disabled:opacity-55 disabled:pointer-events-none',
        isIcon ? 'w-8' : 'px-3',
        looks[look],
        className,
      )}
      {...rest}
    />
  )
}
