import { ChildCard } from './child-card.tsx'
import { QuestionCard } from './question-card.tsx'
import type { BlockProps } from './run-block.tsx'
import type { AsideEntry } from './transcript.ts'

/** A task beside the conversation, such as one that was spawned in the background. */
export function AsideBlock({ entry, live, asking, onAnswer }: BlockProps & { readonly entry: AsideEntry }) {
  const { task, questions } = entry
  return (
    <article aria-label="Background task" className="flex flex-col gap-2">
      <ChildCard task={task} parts={live.get(task.id)} hasQuestion={asking.has(task.id)} />
      {questions.map((asked) => (
        <QuestionCard key={asked.question.id} asked={asked} standsWith={task.id} onAnswer={onAnswer} />
      ))}
    </article>
  )
}
