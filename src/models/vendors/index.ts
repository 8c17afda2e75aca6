import { amazonBedrock } from './amazon-bedrock.ts';
import { anthropic } from './anthropic.ts';
import { azure } from './azure.ts';
import { cohere } from './cohere.ts';
import { deepseek } from './deepseek.ts';
import { google } from './google.ts';
import { groq } from './groq.ts';
import { mistral } from './mistral.ts';
import { openai } from './openai.ts';
import { openrouter } from './openrouter.ts';
import { together } from './together.ts';
import { xai } from './xai.ts';

/** The vendors, in the order of the list of providers. */
export const vendors = [
  openai,
  anthropic,
  google,
  mistral,
  groq,
  xai,
  deepseek,
  azure,
  amazonBedrock,
  cohere,
  openrouter,
  together,
] as const;

/** A built-in provider that is called over the network and therefore has settings. */
export type VendorId = (typeof vendors)[number]['id'];
