export { fetchReceiver, nodeReceiver, nodeReceiver as expressReceiver } from './webhooks/receivers.ts';
export type { EventHandler, NodeRequest, NodeResponse, ReceiverOptions } from './webhooks/receivers.ts';
export { signForTest } from './webhooks/sign-for-test.ts';
export type { SignedDelivery, TestSignature } from './webhooks/sign-for-test.ts';
export { unwrap } from './webhooks/unwrap.ts';
export type { UnwrapOptions } from './webhooks/unwrap.ts';
export { WebhookVerificationError } from './webhooks/verification-error.ts';
export type { VerificationFailure } from './webhooks/verification-error.ts';
export type {
  EventType,
  KnownEvent,
  KnownEvents,
  OtherEvent,
  OtherEventType,
  WebhookEvent,
} from './webhooks/events.ts';
export type { DeliveryHeaders } from './webhooks/delivery-headers.ts';
