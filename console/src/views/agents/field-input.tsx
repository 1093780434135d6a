import { Plus, X } from 'lucide-react'
import { Button } from '../../design/button.tsx'
import { harmlessText } from '../../design/harmless-text.ts'
import { type Draft, draftOf, type Fault, isDraftGroup } from './draft.ts'
import type { Field } from './field.ts'
import { focusField } from './focus-field.ts'
import { type ControlProps, inputLook, Labelled, OptionalNote } from './labelled.tsx'

export interface FieldInputProps {
  readonly field: Field
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  /** As the server names places; it is the id of the control as well. */
  readonly path: string
  readonly label: string
  readonly isRequired: boolean
  readonly faults: readonly Fault[]
}

/** A control for one part of an input, with those of its parts. */
export function FieldInput(props: FieldInputProps) {
  const { field, draft, onChange, path, label, isRequired, faults } = props
  if (field.kind === 'group') return <GroupInput {...props} field={field} />
  if (field.kind === 'list') return <ListInput {...props} field={field} />
  const fault = faults.find((found) => found.path === path)?.message
  return (
    <Labelled id={path} label={field.title ?? label} isRequired={isRequired} hint={hintOf(field)} fault={fault}>
      {(control) => (
        <Control control={control} field={field} draft={draft} onChange={onChange} isRequired={isRequired} />
      )}
    </Labelled>
  )
}

function hintOf({ kind, description }: Field): string | undefined {
  const hint = description === undefined ? undefined : harmlessText(description)
  if (kind !== 'json') return hint
  return hint === undefined ? 'Written as JSON' : `${hint.replace(/\.$/, '')}. Written as JSON`
}

interface ControlGiven {
  readonly control: ControlProps
  readonly field: Field
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  readonly isRequired: boolean
}

function Control({ control, field, draft, onChange, isRequired }: ControlGiven) {
  const text = typeof draft === 'string' ? draft : ''
  switch (field.kind) {
    case 'number':
      return (
        <input
          {...control}
          inputMode="decimal"
          value={text}
          onChange={(event) => onChange(event.target.value)}
          className={`${inputLook} max-w-48`}
        />
      )
    case 'flag':
      return <FlagInput control={control} draft={draft} onChange={onChange} isRequired={isRequired} />
    case 'choice':
      return (
        <select
          {...control}
          value={text}
          onChange={(event) => onChange(event.target.value)}
          className={`${inputLook} max-w-80`}
        >
          <option value="">{isRequired ? 'Choose one' : 'Not given'}</option>
          {field.options.map((option, at) => (
            <option key={JSON.stringify(option)} value={at}>
              {harmlessText(typeof option === 'string' ? option : JSON.stringify(option))}
            </option>
          ))}
        </select>
      )
    case 'json':
      return <Area control={control} text={text} onChange={onChange} look="min-h-40 font-mono text-xs" />
    case 'text': {
      const type = inputTypeOf(field)
      if (type === undefined) return <Area control={control} text={text} onChange={onChange} look="min-h-9" />
      return (
        <input
          {...control}
          type={type}
          value={text}
          onChange={(event) => onChange(event.target.value)}
          className={inputLook}
        />
      )
    }
    // They are made of others, and have no control of their own.
    case 'group':
    case 'list':
      return null
  }
}

const inputTypes: Readonly<Record<string, string>> = { email: 'email', date: 'date', uri: 'url', url: 'url' }
// What is longer has lines.
const lineMax = 120

/** The control for a text of one line; a text may have several unless its schema says what it looks like. */
function inputTypeOf({ format, pattern, maxLength }: Extract<Field, { kind: 'text' }>): string | undefined {
  if (format !== undefined) return inputTypes[format] ?? 'text'
  return pattern !== undefined || (maxLength !== undefined && maxLength <= lineMax) ? 'text' : undefined
}

interface AreaProps {
  readonly control: ControlProps
  readonly text: string
  readonly onChange: (draft: Draft) => void
  readonly look: string
}

/** As high as what is in it; a text may be one word or ten lines. */
function Area({ control, text, onChange, look }: AreaProps) {
  return (
    <textarea
      {...control}
      rows={1}
      value={text}
      onChange={(event) => onChange(event.target.value)}
      className={`${inputLook} h-auto resize-y py-2 leading-5 [field-sizing:content] supports-[field-sizing:content]:resize-none ${look}`}
    />
  )
}

function FlagInput({ control, draft, onChange, isRequired }: Omit<ControlGiven, 'field'>) {
  const { required: _always, ...rest } = control
  // One that may be left out has three answers, and a box has only two.
  if (!isRequired) {
    return (
      <select
        {...control}
        value={draft === undefined ? '' : String(draft)}
        onChange={({ target: { value } }) => onChange(value === '' ? undefined : value === 'true')}
        className={`${inputLook} max-w-48`}
      >
        <option value="">Not given</option>
        <option value="true">Yes</option>
        <option value="false">No</option>
      </select>
    )
  }
  return (
    <input
      {...rest}
      type="checkbox"
      checked={draft === true}
      onChange={(event) => onChange(event.target.checked)}
      className="size-4 accent-accent"
    />
  )
}

function GroupInput(props: FieldInputProps & { readonly field: Extract<Field, { kind: 'group' }> }) {
  const { field, draft, onChange, path, label, isRequired: isGroupRequired, faults } = props
  const group = isDraftGroup(draft) ? draft : {}
  const members = field.members.map(({ name, field: member, isRequired }) => (
    <FieldInput
      key={name}
      field={member}
      draft={group[name] === undefined ? draftOf(member) : group[name]}
      onChange={(next) => onChange({ ...group, [name]: next })}
      path={`${path}.${name}`}
      label={name}
      isRequired={isRequired}
      faults={faults}
    />
  ))
  // The outermost is the form itself.
  if (!path.includes('.')) return <div className="flex flex-col gap-5">{members}</div>
  return (
    <fieldset className="flex min-w-0 flex-col gap-5 rounded-md border border-line p-4">
      <Legend name={field.title ?? label} isRequired={isGroupRequired} />
      {members}
    </fieldset>
  )
}

function Legend({ name, isRequired }: { readonly name: string; readonly isRequired: boolean }) {
  return (
    <legend className="max-w-full px-1 font-medium">
      {name}
      {!isRequired && <OptionalNote />}
    </legend>
  )
}

function ListInput(props: FieldInputProps & { readonly field: Extract<Field, { kind: 'list' }> }) {
  const { field, draft, onChange, path, label, isRequired, faults } = props
  const items = Array.isArray(draft) ? (draft as readonly Draft[]) : []
  const name = field.title ?? label
  const fault = faults.find((found) => found.path === path)?.message
  const add = () => {
    onChange([...items, draftOf(field.item)])
    focusField(`${path}.${items.length}`)
  }
  return (
    <fieldset id={path} className="flex min-w-0 flex-col gap-3 rounded-md border border-line p-4">
      <Legend name={name} isRequired={isRequired} />
      {field.description !== undefined && <p className="text-xs text-ink-soft">{harmlessText(field.description)}</p>}
      {items.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: what is typed is in the draft, not in the control.
        <div key={at} className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <FieldInput
              field={field.item}
              draft={item}
              onChange={(next) => onChange(items.with(at, next))}
              path={`${path}.${at}`}
              label={`${name} ${at + 1}`}
              isRequired
              faults={faults}
            />
          </div>
          <Button
            look="quiet"
            isIcon
            className="mt-6"
            aria-label={`Remove ${name} ${at + 1}`}
            onClick={() => onChange(items.toSpliced(at, 1))}
          >
            <X size={14} aria-hidden />
          </Button>
        </div>
      ))}
      {fault !== undefined && <p className="text-xs font-medium text-bad">{fault}</p>}
      <Button className="self-start" onClick={add}>
        <Plus size={14} aria-hidden /> Add
      </Button>
    </fieldset>
  )
}
