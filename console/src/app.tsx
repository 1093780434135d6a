import { type ComponentType, lazy, Suspense } from 'react'
import { Route, Router, Switch, useLocation } from 'wouter'
import { NotFound } from './design/not-found.tsx'
import { Skeleton } from './design/skeleton.tsx'
import { TooltipScope } from './design/tooltip.tsx'
import { consolePath } from './place.ts'
import { Shell } from './shell/shell.tsx'
import { ViewBoundary } from './shell/view-boundary.tsx'
import { TaskView } from './views/task/index.tsx'
import { TasksView } from './views/tasks/index.tsx'

const ThreadsView = lazy(async () => ({ default: (await import('./views/threads/index.tsx')).ThreadsView }))
const ThreadView = lazy(async () => ({ default: (await import('./views/thread/index.tsx')).ThreadView }))
const AgentsView = lazy(async () => ({ default: (await import('./views/agents/index.tsx')).AgentsView }))
const SystemView = lazy(async () => ({ default: (await import('./views/system/index.tsx')).SystemView }))

/** Every view has an address that can be sent to somebody. */
export function App() {
  return (
    <Router base={consolePath}>
      <TooltipScope>
        <Shell>
          <Views />
        </Shell>
      </TooltipScope>
    </Router>
  )
}

function Views() {
  const [at] = useLocation()
  return (
    <ViewBoundary at={at}>
      <Suspense fallback={<Skeleton />}>
        <Switch>
          <Route path="/" component={TasksView} />
          <Route path="/tasks" component={TasksView} />
          <Route path="/tasks/:id">{({ id }) => <TaskView key={id} id={id} />}</Route>
          <Route path="/threads" component={ThreadsView} />
          <Route path="/threads/:thread">{({ thread }) => <ThreadView key={thread} thread={thread} />}</Route>
          <Route path="/agents" component={AgentsView as ComponentType} />
          <Route path="/agents/:name">{({ name }) => <AgentsView name={name} />}</Route>
          <Route path="/system" component={SystemView} />
          <Route>
            <NotFound what="page" />
          </Route>
        </Switch>
      </Suspense>
    </ViewBoundary>
  )
}
