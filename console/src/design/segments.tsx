import { classes } from './classes.ts'

interface SegmentsProps<Name extends string> {
  readonly label: string
  readonly options: readonly { readonly name: Name; readonly title: string }[]
  readonly value: Name
  readonly onChange: (name: Name) => void
}

/** A few ways of which one is chosen, side by side. */
export function Segments<Name extends string>({ label, options, value, onChange }: SegmentsProps<Name>) {
  return (
    <div role="radiogroup" aria-label={label} className="inline-flex self-start rounded-md bg-sunken p-0.5">
      {options.map(({ name, title }) => (
        <label
          key={name}
          className={classes(
            'inline-flex h-7 cursor-pointer items-center rounded-sm border px-3 text-xs font-medium',
            'has-focus-visible:outline-2 has-focus-visible:outline-focus',
            name === value ? 'border-line bg-raised text-ink' : 'border-transparent text-ink-soft hover:text-ink',
          )}
        >
          <input
            type="radio"
            name={label}
            checked={name === value}
            onChange={() => onChange(name)}
            className="sr-only"
          />
          {title}
        </label>
      ))}
    </div>
  )
}
