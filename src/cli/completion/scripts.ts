import type { CommandWords, FlagWords, ProgramWords } from './words.ts'

/** Every word that stands in a script is ours; quoted all the same, so that a description may hold anything. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function flagNames(flags: readonly FlagWords[]): string[] {
  return flags.flatMap(({ names }) => names)
}

function withValue(flags: readonly FlagWords[]): FlagWords[] {
  return flags.filter(({ takesValue }) => takesValue)
}

export function bashCompletion({ flags, commands }: ProgramWords): string {
  const all = [...flags, ...commands.flatMap((command) => command.flags)]
  const takers = [...new Set(flagNames(withValue(all)))].join('|')
  const choices = all.filter(({ values }) => values.length > 0)
  const cases = commands.map(({ name, flags: own, values }) => {
    const words = [...flagNames(own), ...flagNames(flags)].join(' ')
    return `    ${name}) words=${quoted(words)}; values=${quoted(values.join(' '))} ;;`
  })
  return `# Completion of holdfast for bash.
_holdfast() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command='' word skip='' index words values
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if [[ -n $skip ]]; then skip=''; continue; fi
    case "$word" in
      ${takers}) skip=1 ;;
      -*) ;;
      *) command="$word"; break ;;
    esac
  done
  COMPREPLY=()
  case "$previous" in
${choices.map(({ names, values }) => `    ${names.join('|')}) COMPREPLY=($(compgen -W ${quoted(values.join(' '))} -- "$current")); return ;;`).join('\n')}
    ${takers}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "$command" in
    '') words=${quoted(flagNames(flags).join(' '))}; values=${quoted([...commands.map(({ name }) => name), 'help'].join(' '))} ;;
${cases.join('\n')}
    help) words=''; values=${quoted(commands.map(({ name }) => name).join(' '))} ;;
    *) return ;;
  esac
  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); else COMPREPLY=($(compgen -W "$values" -- "$current")); fi
}
complete -F _holdfast holdfast`
}

export function zshCompletion({ flags, commands }: ProgramWords): string {
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`)
  const cases = commands.map(
    (command) =>
      `    ${command.name}) _arguments ${[...zshFlags([...command.flags, ...flags]), ...zshValues(command)].join(' ')} ;;`,
  )
  return `#compdef holdfast
# Completion of holdfast for zsh.
_holdfast() {
  local context state line
  local -a commands=(
${described.join('\n')}
  )
  _arguments -C ${zshFlags(flags).join(' ')} '1:command:->command' '*::argument:->argument' && return
  case $state in
    command) _describe command commands; return ;;
  esac
  case $words[1] in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _holdfast ]]; then _holdfast "$@"; else compdef _holdfast holdfast; fi`
}

function zshFlags(flags: readonly FlagWords[]): string[] {
  return flags.flatMap(({ names, description, takesValue, values }) => {
    const text = description.replace(/[[\]:\\]/g, '\\$&')
    const value = values.length > 0 ? `:value:(${values.join(' ')})` : ':value:_default'
    return names.map((name) => quoted(`${name}[${text}]${takesValue ? value : ''}`))
  })
}

function zshValues({ values }: CommandWords): string[] {
  return [quoted(values.length > 0 ? `1:argument:(${values.join(' ')})` : '*:argument:_default')]
}

export function fishCompletion({ flags, commands }: ProgramWords): string {
  const names = commands.map(({ name }) => name).join(' ')
  const none = quoted(`not __fish_seen_subcommand_from ${names}`)
  return [
    '# Completion of holdfast for fish.',
    'complete -c holdfast -f',
    ...flags.map((flag) => `complete -c holdfast ${fishFlag(flag)}`),
    ...commands.flatMap(({ name, summary, flags: own, values }) => {
      const inside = quoted(`__fish_seen_subcommand_from ${name}`)
      return [
        `complete -c holdfast -n ${none} -a ${name} -d ${quoted(summary)}`,
        ...own.map((flag) => `complete -c holdfast -n ${inside} ${fishFlag(flag)}`),
        ...(values.length > 0 ? [`complete -c holdfast -n ${inside} -a ${quoted(values.join(' '))}`] : []),
      ]
    }),
  ].join('\n')
}

function fishFlag({ names, description, takesValue, values }: FlagWords): string {
  const options = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  const value = values.length > 0 ? ` -x -a ${quoted(values.join(' '))}` : takesValue ? ' -r' : ''
  return `${options.join(' ')}${value} -d ${quoted(description)}`
}
