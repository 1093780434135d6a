import { badText, hugeBody, longJson, wrongField, wrongJson } from './body-attacks.ts'
import { malformed, tornHead, wrongHeader, wrongMethod, wrongPath, wrongQuery } from './request-attacks.ts'
import { endlessMessage, tornFrame, wrongFrames, wrongHandshake, wrongMessages } from './socket-attacks.ts'

/** All kinds of attack, of HTTP and of WebSocket. */
export const attacks = {
  malformed,
  wrongPath,
  wrongMethod,
  wrongQuery,
  wrongHeader,
  tornHead,
  wrongField,
  wrongJson,
  longJson,
  badText,
  hugeBody,
  wrongHandshake,
  wrongFrames,
  endlessMessage,
  tornFrame,
  wrongMessages,
}

export type AttackName = keyof typeof attacks
