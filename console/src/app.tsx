import type { ComponentType } from 'react'
import { Route, Router, Switch, useLocation } from 'wouter'
import { NotFound } from './design/not-found.tsx'
import { TooltipScope } from './design/tooltip.tsx'
import { consolePath } from './place.ts'
import { Page } from './shell/page.tsx'
import { Shell } from './shell/shell.tsx'
import { ViewBoundary } from './shell/view-boundary.tsx'
import { AgentsView } from './views/agents/index.tsx'
import { SystemView } from './views/system/index.tsx'
import { TaskView } from './views/task/index.tsx'
import { TasksView } from './views/tasks/index.tsx'
import { ThreadView } from './views/thread/index.tsx'
import { ThreadsView } from './views/threads/index.tsx'

/**
 * Every view has an address that can be sent to somebody. All of them come with the page, and none is fetched when it is opened:
 * by then the server may be gone, or of another version, and a browser does not ask again for a program that did not come.
 */
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
          <Page title="Not found">
            <NotFound what="page" />
          </Page>
        </Route>
      </Switch>
    </ViewBoundary>
  )
}
