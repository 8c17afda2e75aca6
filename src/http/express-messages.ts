import { IncomingMessage, ServerResponse, type RequestListener, type ServerOptions } from 'node:http';
import type { Express } from 'express';

/**
 * Classes whose instances have the prototypes that an Express application sets on each request and response, so that it
 * changes nothing: V8 is slow at changing the prototype of an object, and at every access to it afterwards.
 * @returns options for the HTTP server; none where the application is not Express
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
