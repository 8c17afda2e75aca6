import { imagesIn } from '../images.ts';
import type { GenerateRequest } from '../language-model.ts';
import type { Unsupported } from '../provider.ts';
import { imageUrlsOf, takesImage } from '../call/request.ts';
import type { SdkProvider } from '../vendors/vendor.ts';
import { isFormatFunction } from './twin.ts';

/**
 * What a provider gets in another form than the request has it: a schema as a function, and addresses of images whose
 * characters are escaped. Nothing is sent.
 *
 * @param twin The provider with `twinFetch`
 */
export async function findRewritten(twin: SdkProvider, request: GenerateRequest): Promise<Unsupported[]> {
  const asFunction = (await isFormatFunction(twin, request))
    ? [{ member: 'response_format', detail: 'The provider gets the schema as a function that the model has to call.' }]
    : [];
  return [...asFunction, ...(await findAddresses(twin, request))];
}

async function findAddresses(twin: SdkProvider, { model, messages }: GenerateRequest): Promise<Unsupported[]> {
  const images = imagesIn(messages).filter(({ role, url }) => role === 'user' && !url.startsWith('data:'));
  if (images.length === 0) return [];
  const accepted = await twin.models().then(
    (models) => imageUrlsOf(models(model), twin.dialect),
    () => [],
  );
  return images.flatMap(({ url, member }) => {
    const sent = takesImage(url, accepted) ? new URL(url).href : url;
    return sent === url ? [] : [{ member, detail: `The provider gets the address ${sent.slice(0, 900)}` }];
  });
}
