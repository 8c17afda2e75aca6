import { IncomingMessage, ServerResponse, type RequestListener, type ServerOptions } from 'node:http';
import type { Express } from 'express';

/**
 * Classes whose instances already have the prototypes that an Express application sets on each request and response.
 * Changing the prototype of an object is slow in V8, and so is every later access to it.
 * @returns options for the HTTP server; none if the application is not an Express application
 */
export function expressMessages(
  application: RequestListener,
): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  if (!isExpress(application)) return {};
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(ExpressRequest.prototype, application.request);
  Object.setPrototypeOf(ExpressResponse.prototype, application.response);
  application.request = ExpressRequest.prototype as Express['request'];
  application.response = ExpressResponse.prototype as Express['response'];
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

function isExpress(application: RequestListener): application is Express {
  return 'request' in application && 'response' in application;
}
