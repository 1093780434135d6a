import { useThread } from 'holdfast/react'
import { type ReactElement, useState } from 'react'
import { Composer } from './composer.tsx'
import { Answer, Said } from './message.tsx'
import { QuestionCard } from './question.tsx'
import { titleOf } from './threads.tsx'

/** One thread. It is the same in every tab, and after a reload: what is shown is kept by the server. */
export function Chat({ thread }: { readonly thread: string }): ReactElement {
  const { messages, live, tasks, queue, questions, status, error, ...does } = useThread(thread, { agent: 'helper' })
  const [problem, setProblem] = useState<string>()
  const attempt = async (work: Promise<unknown>): Promise<boolean> => {
    setProblem(undefined)
    try {
      await work
      return true
    } catch (refusal) {
      setProblem((refusal as Error).message)
      return false
    }
  }
  const running = [...live].filter(([task]) => tasks.get(task)?.type === 'run')
  return (
    <main className="chat">
      <h1>{titleOf(thread)}</h1>
      <div className="scroll">
        <div className="messages" role="log" aria-busy={status === 'running'}>
          {messages.map((message) => (
            <Said key={message.id} message={message} error={message.task && tasks.get(message.task)?.error?.message} />
          ))}
          {running.map(([task, parts]) => (
            <Answer key={task} parts={parts} isLive />
          ))}
          {questions.map((question) => (
            <QuestionCard
              key={question.id}
              question={question}
              onAnswer={(answer) => void attempt(does.answer(question.id, answer))}
            />
          ))}
          {queue.map(({ id, description }) => (
            <p key={id} className="said user waiting">
              {description}
              <button type="button" className="quiet" onClick={() => void attempt(does.withdraw(id))}>
                Withdraw
              </button>
            </p>
          ))}
        </div>
      </div>
      {(problem ?? error?.message) !== undefined && <p role="alert">{problem ?? error?.message}</p>}
      <Composer
        isBusy={status === 'running'}
        onSend={(text) => attempt(does.send(text))}
        onSteer={(text) => attempt(does.steer(text))}
        onStop={() => void attempt(does.stop())}
      />
    </main>
  )
}
