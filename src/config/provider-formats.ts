import { z } from 'zod';
import type { CompatibleProviderSettings } from '../models/vendors/compatible.ts';
import { httpAddress, json, visibleText, type Format } from './formats.ts';
import { defined } from '../base/runtime/objects.ts';

const headers = z.record(
  z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'expected the name of a header field'),
  z.string().regex(/^[ -~]{0,4096}$/, 'expected visible ASCII characters'),
);

const compatibleProvider = z
  .strictObject({
    id: z.string(),
    name: z.string().trim().min(1).max(100).optional(),
    base_url: httpAddress,
    api_key: visibleText.optional(),
    headers: headers.optional(),
    models: z.array(z.string()),
    default_model: z.string().optional(),
    structured_outputs: z.boolean().optional(),
    image_urls: z.boolean().optional(),
    enforces_max_output: z.boolean().optional(),
  })
  .transform(({ id, name = id, headers, models, ...given }): CompatibleProviderSettings =>
    defined({
      id,
      name,
      baseUrl: given.base_url,
      apiKey: given.api_key,
      headers,
      models: [...new Set(models)],
      defaultModel: given.default_model,
      structuredOutputs: given.structured_outputs,
      imageUrls: given.image_urls,
      enforcesMaxOutput: given.enforces_max_output,
    }),
  );

/** A JSON array; `compatibleProvidersVariable` describes its members. */
export const compatibleProviders: Format<CompatibleProviderSettings[]> = json(z.array(compatibleProvider));

/** A JSON object of lists of model names by provider id. */
export const modelsByProvider: Format<Record<string, string[]>> = json(z.record(z.string(), z.array(z.string())));
