import type { ModelMessage } from 'ai'
import type { Part } from '../core/message.ts'
import { isPart } from '../runtime/request.ts'

type UserContent = Exclude<Extract<ModelMessage, { role: 'user' }>['content'], string>

type TextPart = Extract<UserContent[number], { type: 'text' }>

/** What a person said, as a model is given it. */
export function userContent(parts: readonly Part[]): UserContent {
  return parts.flatMap((part): UserContent => {
    switch (part.type) {
      case 'text':
        return textParts(part.text)
      case 'file':
        return [filePart(part) ?? { type: 'text', text: part.url }]
      case 'data':
        return textParts(jsonText(part.value))
      default:
        return []
    }
  })
}

/** None for a text that says nothing: providers refuse it, and with it every later turn of the conversation. */
export function textParts(text: string): TextPart[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

type FilePart = Extract<UserContent[number], { type: 'file' }>

const fileProtocols: readonly string[] = ['https:', 'http:', 'data:']

/** Undefined if it is nowhere: what is no address of a file, a model cannot be given. */
export function filePart({ mediaType, name, url }: Extract<Part, { type: 'file' }>): FilePart | undefined {
  if (!URL.canParse(url) || !fileProtocols.includes(new URL(url).protocol)) return undefined
  return { type: 'file', mediaType, data: new URL(url), ...(name !== undefined && { filename: name }) }
}

/** A text, a list of parts, or anything else, which is told as JSON. */
export function asParts(content: unknown): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (Array.isArray(content) && content.length > 0 && content.every(isTold)) return content
  return [{ type: 'data', name: 'input', value: content }]
}

export function jsonText(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value) ?? 'nothing'
}

function isTold(value: unknown): value is Part {
  return isPart(value) && (value.type === 'text' || value.type === 'file' || value.type === 'data')
}
