import { CircleX } from 'lucide-react'
import { Component, type ReactNode } from 'react'
import { Button } from '../design/button.tsx'
import { Empty } from '../design/empty.tsx'
import { messageOf, requestIdOf } from '../design/error-state.tsx'

interface ViewBoundaryProps {
  /** Where the view is. Whoever goes elsewhere sees what is there. */
  readonly at: string
  readonly children: ReactNode
}

interface Broken {
  readonly error?: unknown
}

/** Keeps what stands around a view when the view breaks. React knows this as a class alone. */
export class ViewBoundary extends Component<ViewBoundaryProps, Broken> {
  override state: Broken = {}

  static getDerivedStateFromError(error: unknown): Broken {
    return { error: error ?? 'Something was thrown that says nothing' }
  }

  override componentDidUpdate({ at }: ViewBoundaryProps): void {
    if (at !== this.props.at && this.state.error !== undefined) this.setState({ error: undefined })
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    const requestId = requestIdOf(error)
    return (
      <div role="alert" className="flex flex-1 flex-col">
        <Empty icon={CircleX} title="This view broke">
          <p className="break-words">{messageOf(error)}</p>
          {requestId !== undefined && <p className="font-mono text-xs text-ink-faint">Request {requestId}</p>}
          <Button look="solid" onClick={() => location.reload()}>
            Reload
          </Button>
        </Empty>
      </div>
    )
  }
}
