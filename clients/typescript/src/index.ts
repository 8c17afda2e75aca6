export type { Answer, Call, ListCall, Page } from './call.ts';
export type { CallOptions, StreamOptions } from './call-options.ts';
export {
  AnswerError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  GatewayError,
  isProblemOf,
  NotFoundError,
  PermissionError,
  PreconditionFailedError,
  ProblemError,
  ProviderError,
  RateLimitError,
  ServiceError,
  TimeoutError,
  UnexpectedAnswerError,
  UnprocessableError,
} from './errors.ts';
export type { OperationProblem, Problem } from './errors.ts';
export type { AttemptEvent, GatewayOptions, Hooks, RequestEvent } from './gateway-options.ts';
export type { OperationName } from './generated/operations.ts';
export type { Resources, Schemas } from './generated/resources.ts';
export type { components, operations, paths } from './generated/types.ts';
export type {
  InvocationEvent,
  InvocationStream,
  OtherInvocationEvent,
  OtherInvocationEventType,
  StreamedInvocation,
} from './invocation-stream.ts';
export { PromptGateway } from './prompt-gateway.ts';
// `export *` allows a `declare module` of this package to add members to `StoredPrompts`.
export * from './stored-prompts.ts';
