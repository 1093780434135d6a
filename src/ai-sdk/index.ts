export type { AfterCrash } from './after-crash.ts'
export type { SdkAgent } from './agent-settings.ts'
export { type AiSdkAgentOptions, aiSdkAgent, type ToolPolicy } from './ai-sdk-agent.ts'
export { type ToolCall, toolCall } from './tool-call.ts'
