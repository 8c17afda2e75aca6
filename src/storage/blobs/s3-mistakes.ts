import { ProblemError } from '../../base/errors/problem-error.ts';
import type { S3BlobStoreOptions } from './s3-blob-store.ts';

export type BucketSettings = Pick<S3BlobStoreOptions, 'bucket' | 'endpoint' | 'region' | 'forcePathStyle'>;

const toAllow = 's3:ListBucket on the bucket, and s3:PutObject, s3:GetObject and s3:DeleteObject on its objects';

/**
 * Describes an error of the bucket and which setting to correct. Never contains credentials. Codes:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html, and those of Node's sockets.
 */
export function explainS3Error(error: unknown, settings: BucketSettings): string {
  const cause = error instanceof ProblemError ? error.cause : error;
  const { bucket, endpoint, region, forcePathStyle } = settings;
  const place = endpoint ?? `Amazon S3 in ${region}`;
  const { name, code, status, message } = describe(cause);
  switch (name) {
    case 'CredentialsProviderError':
      return 'No credentials were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile or role of the AWS SDK.';
    case 'InvalidAccessKeyId':
      return `${place} does not know the access key. Check AWS_ACCESS_KEY_ID.`;
    case 'SignatureDoesNotMatch':
      return `${place} does not accept the secret key. Check AWS_SECRET_ACCESS_KEY.`;
    case 'ExpiredToken':
    case 'InvalidToken':
    case 'TokenRefreshRequired':
      return `${place} does not accept the session token. Check AWS_SESSION_TOKEN.`;
    case 'AccessDenied':
    case 'AllAccessDisabled':
      return `${place} does not allow these credentials to use the bucket ${bucket}. Check S3_BUCKET, or allow ${toAllow}.`;
    case 'NoSuchBucket':
      return `The bucket ${bucket} does not exist at ${place}. Create it, or correct S3_BUCKET.`;
    case 'PermanentRedirect':
    case 'AuthorizationHeaderMalformed':
    case 'IllegalLocationConstraintException':
      return `The bucket ${bucket} is not in the region ${region}. Correct S3_REGION.`;
    case 'RequestTimeTooSkewed':
      return `The clock of this machine differs too much from that of ${place}. Correct it.`;
    case 'TimeoutError':
    case 'AbortError':
      return `${place} does not answer in time. Check S3_ENDPOINT and the network.`;
  }
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN': {
      const pathStyle = forcePathStyle ? '' : ', or set S3_FORCE_PATH_STYLE=true if it expects the bucket in the path';
      return `The host name of ${place} cannot be resolved. Correct ${endpoint === undefined ? 'S3_REGION' : 'S3_ENDPOINT'}${pathStyle}.`;
    }
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return `${place} cannot be reached (${code}). Check S3_ENDPOINT, and that the storage runs.`;
    case 'EPROTO':
    case 'HPE_INVALID_CONSTANT':
      return `${place} uses another protocol. Check whether S3_ENDPOINT must begin with http: or https:.`;
  }
  if (/CERT|SELF_SIGNED|ALTNAME/.test(code)) {
    return `The certificate of ${place} is not trusted (${code}). Add its certificate authority with NODE_EXTRA_CA_CERTS, or correct S3_ENDPOINT.`;
  }
  if (/access key/i.test(message)) return `${place} does not know the access key. Check AWS_ACCESS_KEY_ID.`;
  if (status === 401 || status === 403) {
    return `${place} refuses the credentials (HTTP status ${status}). Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and allow ${toAllow}.`;
  }
  if (status === 301 || status === 307) {
    return `${place} reports that the bucket ${bucket} is at another address. Correct S3_REGION or S3_ENDPOINT.`;
  }
  if (status !== undefined && status >= 500) {
    return `${place} fails with HTTP status ${status} (${message}).`;
  }
  return `The server at ${place} is not S3-compatible, or lacks something that this service needs (${message}). Check S3_ENDPOINT.`;
}

function describe(error: unknown): { name: string; code: string; status: number | undefined; message: string } {
  const { name, code, $metadata, message, cause, errors } = (error ?? {}) as {
    name?: unknown;
    code?: unknown;
    message?: unknown;
    cause?: unknown;
    errors?: readonly unknown[];
    $metadata?: { httpStatusCode?: number };
  };
  // Node attempts every address of a name and combines their errors in one.
  const inner = typeof code === 'string' ? undefined : (cause ?? errors?.[0]);
  if (inner !== undefined && $metadata?.httpStatusCode === undefined) return describe(inner);
  return {
    name: typeof name === 'string' ? name : '',
    code: typeof code === 'string' ? code : '',
    status: $metadata?.httpStatusCode,
    message: typeof message === 'string' ? (message.split('\n')[0]?.slice(0, 200) ?? '') : String(error),
  };
}
