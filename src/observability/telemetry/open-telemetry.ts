import type { IncomingHttpHeaders } from 'node:http';
import {
  createTraceState,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
} from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import { operationTable } from '../../../generated/operations.ts';
import { traceparentOf } from '../../http/request-context.ts';
import { defined } from '../../base/runtime/objects.ts';
import { scrub } from '../../base/runtime/scrub.ts';
import { within } from '../../base/runtime/within.ts';
import type { TraceContext } from '../../models/call/call-span.ts';
import type { WebhookObserver } from '../../webhooks/observer.ts';
import { callBuckets, names, providerNames, requestBuckets, tokenBuckets } from './conventions.ts';
import type { Telemetry } from './telemetry.ts';

export interface OpenTelemetryOptions {
  /** Address of the collector, without the path of a signal. */
  readonly endpoint: string;
  readonly sendsTraces: boolean;
  readonly sendsMetrics: boolean;
  readonly version: string;
  readonly log: Logger;
}

const closeMs = 5_000;
/** At most one line of the log in this time, in milliseconds, says that the collector cannot be reached. */
const complainEveryMs = 60_000;
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);
/** What calls to providers cost, by provider and model. No convention names it. */
const ownCost = 'prompt_gateway.cost';
/** Operations that supervisors call every few seconds. */
const probes = new Set(['getLiveness', 'getReadiness', 'getMetrics']);

/**
 * Sends to a collector by OTLP over HTTP. The environment variables of OpenTelemetry's SDK hold, such as
 * OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_EXPORTER_OTLP_HEADERS and OTEL_TRACES_SAMPLER. Spans have no content:
 * no texts, variables, bodies or header fields.
 */
export function createOpenTelemetry({
  endpoint,
  sendsTraces,
  sendsMetrics,
  version,
  log,
}: OpenTelemetryOptions): Telemetry {
  complainTo(log);
  const resource = resourceFromAttributes({ 'service.name': 'prompt-gateway', 'service.version': version }).merge(
    detectResources({ detectors: [envDetector] }),
  );
  const tracers = new BasicTracerProvider({
    resource,
    spanProcessors: sendsTraces
      ? [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }))]
      : [],
  });
  const exporter = (): OTLPMetricExporter => new OTLPMetricExporter({ url: `${endpoint}/v1/metrics` });
  const meters = new MeterProvider({
    resource,
    readers: sendsMetrics ? [new PeriodicExportingMetricReader({ exporter: exporter() })] : [],
  });
  const tracer = tracers.getTracer('prompt-gateway', version);
  const meter = meters.getMeter('prompt-gateway', version);
  const histogram = (name: string, unit: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { unit, advice: { explicitBucketBoundaries } });
  const requestDuration = histogram(names.request.duration, 's', requestBuckets);
  const callDuration = histogram(names.generation.duration, 's', callBuckets);
  const tokens = histogram(names.generation.usage, '{token}', tokenBuckets);
  const costs = meter.createCounter(ownCost, { unit: 'USD' });
  /** Spans of requests in progress. */
  const requests = new WeakMap<IncomingHttpHeaders, Span>();

  return {
    beginRequest({ method = '', url = '', headers }) {
      const attributes = { [names.request.method]: methodOf(method), [names.request.path]: url.replace(/\?.*/s, '') };
      const parent = contextOf({ traceparent: traceparentOf(headers), tracestate: headers['tracestate']?.toString() });
      const span = tracer.startSpan(methodOf(method), { kind: SpanKind.SERVER, attributes }, parent);
      requests.set(headers, span);
      Object.assign(headers, { tracestate: undefined }, contextToSend(span));
    },

    endRequest({
      operationId,
      method,
      requestHeaders,
      answer,
      requestId,
      principal,
      milliseconds,
      problem,
      error,
      notes,
    }) {
      const span = requests.get(requestHeaders);
      if (span === undefined || (operationId !== undefined && probes.has(operationId))) return;
      const { status } = answer;
      const route = operationId && operationTable[operationId].path;
      const failure = status >= 500 || error !== undefined ? (problem?.type ?? 'internal-error') : undefined;
      const measured = {
        [names.request.method]: methodOf(method),
        [names.request.status]: status,
        ...(route !== undefined && { [names.request.route]: route }),
        ...(failure !== undefined && { [names.error]: failure }),
      };
      if (route !== undefined) span.updateName(`${methodOf(method)} ${route}`);
      span.setAttributes({
        ...measured,
        ...own({
          request_id: requestId,
          invocation_id: notes.invocation,
          order_id: notes.order,
          ...(principal !== undefined && { [`${principal.kind}_id`]: principal.id }),
          prompt_id: notes.prompt,
          prompt_version: notes.version,
        }),
      });
      finish(span, failure);
      requestDuration.record(milliseconds / 1_000, measured);
    },

    beginCall({ provider, model, address, invocationId, isListed, ...cause }) {
      const called: Attributes = {
        [names.generation.operation]: 'chat',
        [names.generation.provider]: providerNames[provider] ?? provider,
        [names.generation.model]: model,
      };
      // Each value of an attribute is a series of its own.
      const counted = { ...called, [names.generation.model]: isListed ? model : '_OTHER' };
      const began = performance.now();
      const attributes = { ...called, ...serverOf(address), ...own({ invocation_id: invocationId }) };
      const options = { kind: SpanKind.CLIENT, attributes };
      const span = tracer.startSpan(`chat ${model}`, options, contextOf(cause));
      return {
        context: contextToSend(span),
        end({ outcome, usage = {}, answer }, cost) {
          const failure = outcome === 'succeeded' ? undefined : outcome;
          const error = failure !== undefined && { [names.error]: failure };
          const { inputTokens, outputTokens, cachedInputTokens } = usage;
          span.setAttributes({
            ...called,
            ...error,
            ...defined({
              [names.generation.answerModel]: answer?.modelId,
              [names.generation.answerId]: answer?.id,
              [names.generation.inputTokens]: inputTokens,
              [names.generation.outputTokens]: outputTokens,
              [names.generation.cacheRead]: cachedInputTokens,
            }),
          });
          finish(span, failure);
          callDuration.record((performance.now() - began) / 1_000, { ...counted, ...error });
          for (const [type, count] of Object.entries({ input: inputTokens, output: outputTokens })) {
            if (count !== undefined) tokens.record(count, { ...counted, [names.generation.tokenType]: type });
          }
          if (cost !== undefined) costs.add(Number(cost.amount) / 1e9, counted);
        },
      };
    },

    observing: (observer: WebhookObserver) => ({
      ...observer,
      attempted(attempt) {
        observer.attempted(attempt);
        const { delivery, url, at, status, outcome, seconds } = attempt;
        const cause = spanContextOf({ traceparent: delivery.traceparent });
        const failure = outcome === '2xx' ? undefined : status === undefined ? outcome : String(status);
        const attributes = defined({
          [names.request.method]: 'POST',
          ...serverOf(url),
          [names.request.status]: status,
          [names.error]: failure,
        });
        const span = tracer.startSpan(
          `deliver ${delivery.eventType}`,
          {
            kind: SpanKind.CLIENT,
            startTime: at,
            attributes: {
              ...attributes,
              ...own({
                integration_id: delivery.integrationId,
                event_id: delivery.eventId,
                delivery_id: delivery.id,
                attempt: delivery.attemptCount + 1,
              }),
            },
            links: cause === undefined ? [] : [{ context: cause }],
          },
          ROOT_CONTEXT,
        );
        finish(span, failure, new Date(at.getTime() + seconds * 1_000));
      },
    }),

    async close() {
      const ending = Promise.allSettled([tracers.shutdown(), meters.shutdown()]);
      await within(closeMs, ending, () => undefined);
    },
  };
}

function finish(span: Span, failure: string | undefined, at?: Date): void {
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(at);
}

function contextOf(sent: TraceContext): Context {
  const parent = spanContextOf(sent);
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

/** @param traceparent is well-formed */
function spanContextOf({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  if (traceparent === undefined) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
}

function contextToSend(span: Span): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const tracestate = traceState?.serialize() ?? '';
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  return { traceparent, ...(tracestate !== '' && { tracestate }) };
}

/** The host and port of a URL; empty if the URL is not valid. */
function serverOf(url: string): Attributes {
  if (!URL.canParse(url)) return {};
  const { hostname, port, protocol } = new URL(url);
  return {
    [names.server.address]: hostname.replace(/^\[(.*)\]$/, '$1'),
    [names.server.port]: Number(port) || (protocol === 'https:' ? 443 : 80),
  };
}

function methodOf(method: string): string {
  return methods.has(method) ? method : '_OTHER';
}

/** Attributes that no convention names. */
function own(values: Readonly<Record<string, string | number | undefined>>): Attributes {
  return Object.fromEntries(Object.entries(defined(values)).map(([name, value]) => [`prompt_gateway.${name}`, value]));
}

/** The SDK reports what goes wrong only to a logger of the process. */
function complainTo(log: Logger): void {
  let last = -Infinity;
  const complain = (message: string): void => {
    if (performance.now() - last < complainEveryMs) return;
    last = performance.now();
    log.warn({ cause: scrub(message.slice(0, 500)) }, 'OpenTelemetry data could not be sent');
  };
  const ignore = (): void => undefined;
  diag.setLogger(
    { error: complain, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
}
