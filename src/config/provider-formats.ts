import { z } from 'zod';
import type { CompatibleProviderSettings } from '../providers/vendors/compatible.ts';
import { httpAddress, json, visibleText, type Format } from './formats.ts';

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
  })
  .transform((given): CompatibleProviderSettings => {
    const { id, name, base_url, api_key, headers, models, default_model, structured_outputs, image_urls } = given;
    return {
      id,
      name: name ?? id,
      baseUrl: base_url,
      ...(api_key !== undefined && { apiKey: api_key }),
      ...(headers !== undefined && { headers }),
      models: [...new Set(models)],
      ...(default_model !== undefined && { defaultModel: default_model }),
      ...(structured_outputs !== undefined && { structuredOutputs: structured_outputs }),
      ...(image_urls !== undefined && { imageUrls: image_urls }),
    };
  });

/** A JSON array; `compatibleProvidersVariable` describes its members. */
export const compatibleProviders: Format<CompatibleProviderSettings[]> = json(z.array(compatibleProvider));

/** A JSON object of lists of model names by provider id. */
export const modelsByProvider: Format<Record<string, string[]>> = json(z.record(z.string(), z.array(z.string())));
