import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCli } from '../../clients/typescript/src/cli/cli.ts';
import { importPrompts } from '../prompts/transfer-harness.ts';
import { setUp } from '../support/per-operation.ts';

const setup = setUp();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'converted-'));
});
afterEach(() => rm(folder, { recursive: true }));

interface Run {
  readonly code: number;
  readonly output: string;
  /** The lines of what does not map. */
  readonly notes: readonly string[];
}

/** Converts fixtures: real prompts in the documented forms, cut down. */
async function convert(from: string, ...names: string[]): Promise<Run> {
  let [output, errors] = ['', ''];
  const files = names.map((name) => path.resolve(import.meta.dirname, 'foreign', name));
  const code = await runCli(
    ['convert', '--from', from, '--folder', folder, ...files],
    {},
    {
      write: (text) => (output += text),
      writeError: (text) => (errors += text),
    },
  );
  return { code, output, notes: errors.split('\n').filter((line) => line !== '') };
}

/** The files that were written, by slug. The service takes all of them. */
async function written(): Promise<Record<string, unknown>> {
  const names = (await readdir(folder)).sort();
  const prompts = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(path.join(folder, name), 'utf8')) as { slug: string }),
  );
  const { body } = await importPrompts(setup.service, prompts, { dry_run: true });
  expect(body).toMatchObject({ results: prompts.map(() => ({ status: 'created' })) });
  const stored = body.results as { notes?: { detail: string }[] }[];
  expect(stored.flatMap(({ notes = [] }) => notes)).toEqual(
    stored.flatMap(({ notes = [] }) =>
      notes.map(() => ({ detail: expect.stringContaining('get other numbers'), pointer: expect.anything() })),
    ),
  );
  return Object.fromEntries(prompts.map((prompt) => [prompt.slug, prompt]));
}

describe('convert', () => {
  it('takes prompts of Langfuse, and names placeholders, composed prompts and other members', async () => {
    const { code, output, notes } = await convert('langfuse', 'langfuse.json');
    expect({ code, output }).toEqual({
      code: 1,
      output: `2 prompts written to ${folder}. Correct the mistakes before you store them.\n`,
    });
    expect(await written()).toEqual({
      'movie-critic': {
        slug: 'movie-critic',
        name: 'movie-critic',
        labels: { production: 2, 'team-a': 2 },
        versions: [
          { version: 1, messages: [{ role: 'system', content: 'You are an {{criticlevel}} movie critic' }] },
          {
            version: 2,
            note: 'Follow the rules of the house',
            messages: [
              { role: 'system', content: expect.stringContaining('@@@langfusePrompt:name=house-rules') },
              { role: 'user', content: 'Do you like {{movie}}?' },
            ],
            selected_provider: 'openai',
            selected_model: 'gpt-4o',
            parameters: { temperature: 0.7, max_output_tokens: 400 },
          },
        ],
      },
      'support-event-planner': {
        slug: 'support-event-planner',
        name: 'support/Event Planner',
        versions: [
          {
            version: 4,
            messages: [{ role: 'user', content: expect.stringContaining('{{Event_Description}}') }],
            selected_provider: 'anthropic',
            selected_model: 'claude-sonnet-4-5',
            response_format: {
              type: 'json',
              name: 'plan',
              strict: true,
              schema: expect.objectContaining({ required: ['title'] }),
            },
            tools: [
              { name: 'book', description: 'Books a room', parameters: expect.objectContaining({ type: 'object' }) },
            ],
          },
        ],
      },
    });
    expect(notes).toEqual([
      'movie-critic: tags are left out: movies',
      'movie-critic: the placeholder "chat_history" is left out: send its messages as `messages`, which follow the prompt\'s',
      'movie-critic: mistake: contains the prompt "house-rules": composed prompts do not exist here. Export it resolved.',
      'movie-critic: supported_languages: not taken over',
      'support/Event Planner: a text prompt becomes a message of the user',
      'movie-critic: the label "Team_A" becomes team-a',
      'support/Event Planner: gets the slug support-event-planner',
      'support/Event Planner: versions get other numbers when they are stored: 4 becomes 1',
      'support/Event Planner: mistake: "{{Event Name}}" is not a placeholder; it is sent unchanged',
    ]);
  });

  it("names what a list of Langfuse's prompts lacks", async () => {
    const { code, output, notes } = await convert('langfuse', 'langfuse-list.json');
    expect({ code, output }).toEqual({ code: 1, output: 'No prompts were written.\n' });
    expect(notes).toEqual([expect.stringContaining('has no content'), expect.stringMatching(/^No prompts come from /)]);
  });

  it('takes prompts of Helicone', async () => {
    const { notes } = await convert('helicone', 'helicone.json');
    const gpt = { selected_provider: 'openai', selected_model: 'gpt-4o-mini' };
    expect(await written()).toEqual({
      'course-helper': {
        slug: 'course-helper',
        name: 'Course helper',
        labels: { production: 2 },
        versions: [
          {
            version: 1,
            note: 'Initial version.',
            messages: [{ role: 'user', content: 'Can you help with {{task}}?' }],
            ...gpt,
          },
          {
            version: 2,
            note: 'Ask for the age',
            messages: [
              { role: 'system', content: expect.stringContaining('assistant for {{company}}. {{hcp:') },
              {
                role: 'user',
                content: [
                  { type: 'text', text: 'My age is {{age}}. Can you help with {{task}}?' },
                  { type: 'image', url: 'https://images.example.com/a.png' },
                ],
              },
            ],
            ...gpt,
            parameters: { temperature: 0.4 },
          },
        ],
      },
    });
    expect(notes).toEqual([
      'Course helper: mistake: contains a message of the prompt "rAb12C": composed prompts do not exist here',
      'Course helper: the variable age has no type here; it was number',
      'Course helper: cache_control: not taken over',
      'Course helper: gets the slug course-helper',
      'Course helper: versions get other numbers when they are stored: 1.1 becomes 2',
      'Course helper: mistake: "{{hcp:rAb12C:0:production}}" is not a placeholder; it is sent unchanged',
    ]);
  });

  it('takes prompt templates of PromptLayer, with both kinds of templates', async () => {
    const { notes } = await convert('promptlayer', 'promptlayer.json');
    expect(await written()).toMatchObject({
      'ai-poet': {
        versions: [
          {
            note: 'Count syllables',
            messages: [
              { role: 'system', content: 'Answer as JSON like {"poem": "…"}.' },
              { role: 'user', content: 'Write a haiku about {{topic}}' },
            ],
            selected_provider: 'openai',
            selected_model: 'gpt-4o',
            parameters: { temperature: 1, max_output_tokens: 256 },
            response_format: { type: 'json' },
            tools: [{ name: 'count' }],
          },
        ],
      },
      summary: {
        versions: [
          {
            messages: [{ role: 'user', content: expect.stringContaining('Summarise {{ text }}') }],
            selected_provider: 'anthropic',
          },
        ],
      },
    });
    expect(notes).toEqual([
      'ai_poet: tags are left out: poems',
      'ai_poet: metadata is left out: team',
      expect.stringContaining('ai_poet: the placeholder "fill_in_message" is left out'),
      'ai_poet: logit_bias: not taken over',
      'summary: a completion becomes a message of the user',
      'summary: mistake: statements and comments (`{% … %}`) have no meaning here',
      'ai_poet: gets the slug ai-poet',
      'ai_poet: versions get other numbers when they are stored: 3 becomes 1',
    ]);
  });

  it('takes prompts of promptfoo, with the files that they name', async () => {
    const { notes } = await convert('promptfoo', 'promptfooconfig.yaml', 'chat.json');
    const generation = {
      selected_provider: 'openai',
      selected_model: 'gpt-4.1-mini',
      parameters: { temperature: 0.2, max_output_tokens: 100 },
    };
    expect(await written()).toMatchObject({
      'translation-1': {
        name: 'Translation 1',
        versions: [
          {
            messages: [{ role: 'user', content: 'Convert the following English text to {{language}}: {{input}}' }],
            ...generation,
          },
        ],
      },
      chat: {
        versions: [
          {
            messages: [
              { role: 'system', content: 'You translate to {{language}}.' },
              { role: 'user', content: '{{input}}' },
            ],
            ...generation,
          },
        ],
      },
      shout: {},
    });
    expect(notes).toContain('shout: mistake: statements and comments (`{% … %}`) have no meaning here');
    expect(notes).toContain('shout: mistake: {{ line | upper }} is a variable with a default here, not a filter');
    expect(notes).toContain(
      'missing: mistake: file://prompts/missing.txt is left out: the file is not among those that are converted',
    );
    expect(notes).toContain('chat: only the first of the providers is taken over: anthropic:messages:claude-haiku-4-5');
    expect(notes).toContain('chat: tests and their assertions are not converted; `datasets push` takes them');
  });

  it('takes Prompty, Dotprompt, and other texts with front matter', async () => {
    const { notes } = await convert('markdown', 'basic.prompty', 'greeting.prompt', 'plain.md');
    expect(await written()).toEqual({
      'basic-prompt': {
        slug: 'basic-prompt',
        name: 'Basic Prompt',
        description: 'Answers questions of customers',
        versions: [
          {
            version: 1,
            messages: [
              { role: 'system', content: expect.stringMatching(/^You are an AI.*# Safety\n- Never guess\.$/s) },
              { role: 'user', content: '{{question}}' },
            ],
            variables: {
              first_name: { default: 'Ada', description: 'Name of the customer' },
              question: { required: true },
            },
            selected_provider: 'azure',
            selected_model: 'gpt-35-turbo',
            parameters: { max_output_tokens: 128, temperature: 0.2 },
          },
        ],
      },
      greeting: {
        slug: 'greeting',
        name: 'greeting',
        versions: [
          {
            version: 1,
            messages: [
              { role: 'system', content: "You are the world's most welcoming AI assistant and work at {{location}}." },
              { role: 'user', content: expect.stringMatching(/^Greet \{\{name\}\}/) },
            ],
            variables: {
              location: { default: 'a restaurant' },
              style: { description: 'how the guest speaks' },
              name: { required: true, description: 'of the guest' },
            },
            selected_provider: 'google',
            selected_model: 'gemini-2.5-flash',
            parameters: { temperature: 0.7, top_k: 20, stop: ['STOP'] },
            response_format: { type: 'json' },
          },
        ],
      },
      plain: {
        slug: 'plain',
        name: 'plain',
        description: 'Release notes',
        versions: [
          {
            version: 1,
            messages: [{ role: 'user', content: 'Write release notes for {{version}}.' }],
            selected_provider: 'openai',
            selected_model: 'gpt-5-mini',
          },
        ],
      },
    });
    expect(notes).toEqual([
      'Basic Prompt: sample: not taken over',
      'greeting: version: not taken over',
      'greeting: output.schema is no JSON Schema, so the answer is any JSON',
      'Basic Prompt: gets the slug basic-prompt',
      'greeting: mistake: "{{#if style}}" is not a placeholder; it is sent unchanged',
      'greeting: mistake: "{{/if}}" is not a placeholder; it is sent unchanged',
    ]);
  });

  /** Converts a prompt as the API of the tool answers. */
  async function convertOne(from: string, name: string, prompt: unknown): Promise<Run> {
    const file = path.join(folder, name);
    await writeFile(file, typeof prompt === 'string' ? prompt : JSON.stringify(prompt));
    const run = await convert(from, file);
    await rm(file);
    return run;
  }
  const langfuse = (text: string, members = {}): unknown => ({ name: 'one', version: 1, prompt: text, ...members });
  const layer = (content: string): unknown => ({
    prompt_name: 'one',
    prompt_template: { messages: [{ role: 'user', content }] },
  });

  it.each<[string, string, unknown]>([
    ['langfuse', 'a.json', langfuse('Dear {{name}}, 1 {2} {"a": 1}')],
    ['promptlayer', 'a.json', layer('Dear {name}, {{"a": 1}}')],
    ['markdown', 'a.prompt', 'Dear {{{name}}}'],
  ])('finds no mistake in a text of %s that means the same here', async (from, name, prompt) => {
    const { code } = await convertOne(from, name, prompt);
    expect(code).toBe(0);
    const [written_] = Object.values(await written());
    expect(JSON.stringify(written_)).toContain('Dear {{name}}');
  });

  it.each<[string, string, unknown, string]>([
    ['langfuse', 'a.json', langfuse('{{user name}}'), '"{{user name}}" is not a placeholder'],
    ['langfuse', 'a.json', langfuse('{% if x %}'), 'statements and comments'],
    ['langfuse', 'a.json', langfuse('@@@langfusePrompt:name=rules|label=production@@@'), 'contains the prompt "rules"'],
    ['promptlayer', 'a.json', layer('@@@rules@@@'), 'contains the prompt "rules"'],
    ['promptlayer', 'a.json', layer('{price:.2f}'), '{price:.2f} is not a variable here'],
    ['markdown', 'a.prompt', '{{history}}', '{{history}} is a variable here, not the conversation'],
    ['markdown', 'a.prompt', '{{#each items}}', '"{{#each items}}" is not a placeholder'],
    ['markdown', 'a.prompty', '{{ name | upper }}', '{{ name | upper }} is a variable with a default here'],
  ])('exits with 1 for a text of %s that means something else here: %s %j', async (from, name, prompt, mistake) => {
    const { code, notes } = await convertOne(from, name, prompt);
    expect(code).toBe(1);
    expect(notes).toContainEqual(expect.stringContaining(`: mistake: ${mistake}`));
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('exits with 1 for what the service would refuse, at the same places', async () => {
    const config = {
      temperature: 7,
      top_p: '1',
      max_tokens: 0,
      stop: ['a', 'b', 'c', 'd', 'e'],
      tools: [{ name: 'a b' }],
    };
    const { code, notes } = await convertOne('langfuse', 'a.json', langfuse('x', { config }));
    expect(code).toBe(1);
    const places = notes.flatMap((note) => /^one\.json(#\S+): mistake: /.exec(note)?.[1] ?? []);
    const file = JSON.parse(await readFile(path.join(folder, 'one.json'), 'utf8')) as unknown;
    const { status, body } = await importPrompts(setup.service, [file], { dry_run: true });
    expect(status).toBe(400);
    const refused = (body.errors as { pointer: string }[]).map(({ pointer }) => pointer.replace('/prompts/0', ''));
    expect(new Set(places)).toEqual(new Set(refused));
    expect(notes).toContain('one.json#/versions/0/parameters/temperature: mistake: must be <= 2');
  });

  it('keeps the numbers of versions, and names those that change when they are stored', async () => {
    const versions = [3, 7].map((version) => langfuse(`v${version}`, { version, labels: [`v-${version}`] }));
    const { notes } = await convertOne('langfuse', 'a.json', versions);
    expect(notes).toContain('one: versions get other numbers when they are stored: 3 becomes 1, 7 becomes 2');
    expect(await written()).toMatchObject({
      one: { versions: [{ version: 3 }, { version: 7 }], labels: { 'v-3': 3, 'v-7': 7 } },
    });
    const whole = [1, 2].map((version) => langfuse(`v${version}`, { version }));
    expect((await convertOne('langfuse', 'a.json', whole)).notes).not.toContainEqual(
      expect.stringContaining('numbers'),
    );
  });

  it.each([
    ['langfuse', 'chat.json', 'chat.json has no prompt of Langfuse.'],
    ['helicone', 'promptlayer.json', 'promptlayer.json has no messages of a prompt of Helicone.'],
    ['promptlayer', 'langfuse.json', 'langfuse.json has no prompt template of PromptLayer.'],
    ['promptfoo', 'plain.md', 'No file is a configuration of promptfoo with prompts.'],
    ['langfuse', 'plain.md', 'plain.md is not JSON.'],
    ['langfuse', 'nothing.json', expect.stringMatching(/^The file .*nothing\.json cannot be read\.$/)],
  ])('refuses what is not of the format %s: %s', async (from, name, message) => {
    expect(await convert(from, name)).toEqual({ code: 1, output: '', notes: [message] });
  });

  it.each<[string, Buffer]>([
    ['latin.md', Buffer.from('Grüße an {{name}}', 'latin1')],
    ['utf16.md', Buffer.from('\uFEFFDear {{name}}', 'utf16le')],
    ['utf16-without-mark.md', Buffer.from('Dear {{name}}', 'utf16le')],
  ])('refuses a file that is not UTF-8 by its name: %s', async (name, bytes) => {
    const file = path.join(folder, name);
    await writeFile(file, bytes);
    expect(await convert('markdown', file)).toEqual({
      code: 1,
      output: '',
      notes: [`The file ${file} is not UTF-8. Save it as UTF-8.`],
    });
  });

  it('takes UTF-8 with a mark', async () => {
    const { code } = await convertOne('langfuse', 'a.json', `\uFEFF${JSON.stringify(langfuse('Grüße an {{name}}'))}`);
    expect(code).toBe(0);
    expect(JSON.stringify(await written())).toContain('Grüße an {{name}}');
  });

  it.each([
    ['tools:\n  - name: find\n', 'Hi', 'tools: not taken over'],
    ['outputs:\n  answer: string\n', 'Hi', 'outputs: not taken over'],
    ['', 'user:\n![photo](cat.png)', 'images are sent as text: ![photo](cat.png)'],
    ['inputs:\n  photo:\n    type: image\n', '{{photo}}', 'inputs.photo: a value of the type image is sent as text'],
  ])('exits with 1 for what Prompty has and the file does not: %j %j', async (head, body, mistake) => {
    const { code, notes } = await convertOne('markdown', 'a.prompty', `---\nname: one\n${head}---\n${body}\n`);
    expect([code, notes]).toEqual([1, expect.arrayContaining([`one: mistake: ${mistake}`])]);
  });

  it('exits with 1 if nothing comes from the files', async () => {
    const { code, notes } = await convertOne('langfuse', 'a.json', '[]');
    expect([code, notes]).toEqual([1, [`No prompts come from ${path.join(folder, 'a.json')}.`]]);
  });

  it('names the formats', async () => {
    expect(await convert('langchain', 'chat.json')).toMatchObject({
      code: 2,
      notes: ['--from must be one of langfuse, helicone, promptlayer, promptfoo, markdown.', expect.anything()],
    });
  });
});
