import { Monitor, Moon, Sun } from 'lucide-react'
import { Button } from '../design/button.tsx'
import { Tooltip } from '../design/tooltip.tsx'
import { setTheme, type Theme, themes, useTheme } from './theme.ts'

const icons = { auto: Monitor, light: Sun, dark: Moon } as const

const titles: Readonly<Record<Theme, string>> = { auto: 'as the system', light: 'light', dark: 'dark' }

/** Goes round: as the system, light, dark. */
export function ThemeSwitch() {
  const theme = useTheme()
  const Icon = icons[theme]
  return (
    <Tooltip text={`Theme: ${titles[theme]}`} side="right">
      <Button
        look="quiet"
        isIcon
        aria-label={`Theme: ${titles[theme]}. Change it`}
        onClick={() => setTheme(after(theme))}
      >
        <Icon size={16} aria-hidden />
      </Button>
    </Tooltip>
  )
}

function after(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto'
}
