import { describe, expect, it } from '@jest/globals';
import type { components } from '../../clients/typescript/src/generated/types.ts';
import { contentWarnings, listVariables, renderMessages } from '../../clients/typescript/src/template.ts';

/** In the form of the API. */
const prompt: Pick<components['schemas']['Prompt'], 'messages' | 'variables'> = {
  messages: [
    { role: 'system', content: 'Answer in {{language|English}}. {{nmae}' },
    { role: 'user', content: '{{greeting}} {{name}}, {{greeting|Hello}} {{mood}} {{tail|}}' },
  ],
  variables: {
    name: { required: true, description: 'Whom to greet' },
    mood: { default: 'cheerful' },
    unused: {},
  },
};

describe('template', () => {
  it('renders the messages of a prompt from the API', () => {
    expect(renderMessages(prompt.messages, prompt.variables, { name: 'Ada', greeting: 'Good day' }).messages).toEqual([
      { role: 'system', content: 'Answer in English. {{nmae}' },
      { role: 'user', content: 'Good day Ada, Good day cheerful ' },
    ]);
  });

  it('lists declared variables, then those that only occur in placeholders', () => {
    expect(listVariables(prompt)).toEqual([
      { name: 'name', required: true, description: 'Whom to greet' },
      { name: 'mood', required: false, default: 'cheerful' },
      { name: 'unused', required: false },
      { name: 'language', required: false, default: 'English' },
      { name: 'greeting', required: true, default: 'Hello' },
      { name: 'tail', required: false, default: '' },
    ]);
  });

  it.each([
    ['what it requires', ['name', 'greeting'], []],
    ['less', ['name'], ['greeting']],
    ['nothing', [], ['greeting', 'name']],
  ])('requires what rendering requires: given %s', (_what, given, missing) => {
    const required = listVariables(prompt).filter((variable) => variable.required);
    expect(
      required
        .map(({ name }) => name)
        .filter((name) => !given.includes(name))
        .toSorted(),
    ).toEqual(missing);
    const render = (): unknown =>
      renderMessages(prompt.messages, prompt.variables, Object.fromEntries(given.map((name) => [name, 'x'])));
    if (missing.length === 0) expect(render).not.toThrow();
    else expect(render).toThrow(`No value for: ${missing.join(', ')}.`);
  });

  it('lists variables whose names every object has', () => {
    const content = { messages: [{ content: '{{__proto__}} {{constructor}}' }] };
    expect(listVariables(content).map(({ name }) => name)).toEqual(['__proto__', 'constructor']);
  });

  it('gives the same warnings as saving the prompt', () => {
    expect(contentWarnings(prompt)).toEqual([
      {
        code: 'not-a-placeholder',
        detail: '"{{nmae}" is not a placeholder; it is sent unchanged',
        pointer: '#/messages/0/content',
      },
      { code: 'unused-variable', detail: 'is not used by a placeholder', pointer: '#/variables/unused' },
    ]);
  });
});
