import { Dialog } from '../design/dialog.tsx'
import { commandGroups, useCommandList } from '../shell/commands.ts'
import { Keys } from './keys.tsx'

interface KeysHelpProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** The keys that do something here and now, as the views have registered them. */
export function KeysHelp({ isOpen, onClose }: KeysHelpProps) {
  const commands = useCommandList()
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Keys" width="wide">
      <div className="gap-10 sm:columns-2">
        {commandGroups.map((group) => {
          const found = commands.flatMap(({ keys, ...command }) =>
            keys !== undefined && command.group === group ? [{ ...command, keys }] : [],
          )
          if (found.length === 0) return null
          return (
            <section key={group} className="mb-5 break-inside-avoid">
              <h3 className="mb-1 text-xs font-medium text-ink-faint">{group}</h3>
              <dl>
                {found.map(({ id, title, keys }) => (
                  <div key={id} className="flex min-h-8 items-center justify-between gap-4 border-b border-line">
                    <dt className="min-w-0 truncate">{title}</dt>
                    <dd>
                      <Keys keys={keys} />
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          )
        })}
      </div>
    </Dialog>
  )
}
