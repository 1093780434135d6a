import type { Question } from 'holdfast/client'
import type { FormEvent, ReactElement } from 'react'

interface QuestionCardProps {
  readonly question: Question
  readonly onAnswer: (answer: string) => void
}

/** A run waits for this answer. In every tab the card goes away as soon as somebody has given it. */
export function QuestionCard({ question: { text, options }, onAnswer }: QuestionCardProps): ReactElement {
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    onAnswer(String(new FormData(event.currentTarget).get('answer')))
  }
  return (
    <section className="question" aria-label="Question">
      <p>{text}</p>
      {options ? (
        options.map((option) => (
          <button key={option} type="button" onClick={() => onAnswer(option)}>
            {option}
          </button>
        ))
      ) : (
        <form onSubmit={submit}>
          <input name="answer" aria-label="Answer" required />
          <button type="submit">Answer</button>
        </form>
      )}
    </section>
  )
}
