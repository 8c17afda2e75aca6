import { describe, expect, it } from '@jest/globals';
import { cpuMilliseconds, linearWorkMs } from '../../support/cpu-time.ts';
import {
  MissingVariablesError,
  parseTemplate,
  renderMessages,
  renderTemplate,
  RenderedPromptTooLargeError,
  type Message,
} from '../../../src/prompts/templates/render.ts';

const user = (content: string): Message => ({ role: 'user', content });

describe('renderMessages', () => {
  it('renders every message and keeps roles and order', () => {
    const messages: Message[] = [
      { role: 'system', content: 'Speak {{language|English}}.' },
      user('I am {{name}}.'),
      { role: 'assistant', content: 'Hello.' },
    ];
    expect(renderMessages(messages, { name: {} }, { name: 'Ada', language: 'French' }).messages).toEqual([
      { role: 'system', content: 'Speak French.' },
      { role: 'user', content: 'I am Ada.' },
      { role: 'assistant', content: 'Hello.' },
    ]);
  });

  it('does not change its arguments', () => {
    const messages = Object.freeze([Object.freeze(user('{{a}}'))]);
    expect(renderMessages(messages, Object.freeze({}), Object.freeze({ a: '1' })).messages).toEqual([user('1')]);
  });

  it('names the missing variables of all messages, in order of appearance', () => {
    const render = (): unknown =>
      renderMessages([user('{{b}}'), user('{{a}}{{b}}')], { unused: { required: true }, a: { required: true } }, {});
    expect(render).toThrow(new MissingVariablesError(['b', 'a', 'unused'], []));
    expect(render).toThrow(expect.objectContaining({ names: ['b', 'a', 'unused'] }));
  });

  it('reports a missing variable before the size', () => {
    expect(() => renderMessages([user('{{big}}{{a}}')], {}, { big: 'xx' }, { maxLength: 1 })).toThrow(
      MissingVariablesError,
    );
  });

  it('names every missing variable, but limits the sentence', () => {
    const names = Array.from({ length: 5000 }, (_, index) => `v${index}`);
    let thrown: unknown;
    try {
      renderMessages([user(names.map((name) => `{{${name}}}`).join(''))], {}, {});
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ names, message: expect.stringMatching(/v19 and 4980 more\.$/) });
    expect((thrown as Error).message.length).toBeLessThan(200);
  });

  it('limits all messages together, in UTF-16 code units', () => {
    const messages = [user('{{a}}'), user('😀')];
    expect(renderMessages(messages, {}, { a: '12' }, { maxLength: 4 }).messages).toHaveLength(2);
    const render = (): unknown => renderMessages(messages, {}, { a: '123' }, { maxLength: 4 });
    expect(render).toThrow(RenderedPromptTooLargeError);
    expect(render).toThrow(expect.objectContaining({ length: 5, maxLength: 4 }));
  });

  it('allows 4 Mi code units by default', () => {
    const quarter = 'x'.repeat(1024 * 1024);
    const template = '{{a}}{{a}}{{a}}{{a}}';
    expect(renderMessages([user(template)], {}, { a: quarter }).messages[0]?.content).toHaveLength(4 * 1024 * 1024);
    expect(() => renderMessages([user(`${template}.`)], {}, { a: quarter })).toThrow(RenderedPromptTooLargeError);
  });

  it('refuses a template that multiplies a megabyte, before it builds the text', () => {
    const template = '{{a}}'.repeat(200_000);
    const value = 'x'.repeat(1024 * 1024);
    const before = process.memoryUsage().rss;
    const refuse = (): void => {
      expect(() => renderMessages([user(template)], {}, { a: value })).toThrow(RenderedPromptTooLargeError);
    };
    expect(cpuMilliseconds(refuse)).toBeLessThan(linearWorkMs);
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1024 * 1024);
  });

  it('serialises an object once, however often it is used', () => {
    const big = { list: Array.from({ length: 100_000 }, (_, index) => index) };
    const refuse = (): void => {
      expect(() => renderMessages([user('{{a}}'.repeat(100_000))], {}, { a: big })).toThrow(
        RenderedPromptTooLargeError,
      );
    };
    expect(cpuMilliseconds(refuse)).toBeLessThan(linearWorkMs);
  });

  it('serialises values nested deeper than JSON.stringify can', () => {
    const array = '['.repeat(100_000) + ']'.repeat(100_000);
    const object = '{"k":[1,"two",'.repeat(20_000) + 'null' + '],"l":{}}'.repeat(20_000);
    expect(() => JSON.stringify(JSON.parse(array))).toThrow(RangeError);
    const values = { array: JSON.parse(array) as unknown, object: JSON.parse(object) as unknown };
    expect(renderMessages([user('{{array}}'), user('{{object}}')], {}, values).messages).toEqual([
      user(array),
      user(object),
    ]);
  });
});

describe('parseTemplate and renderTemplate', () => {
  it('parse once and render repeatedly', () => {
    const template = parseTemplate('Dear {{ name | you}}, \\{{x}}');
    expect(template).toEqual(['Dear ', { name: 'name', inlineDefault: ' you' }, ', ', '{{x}}']);
    expect(renderTemplate(template, {}, {})).toBe('Dear  you, {{x}}');
    expect(renderTemplate(template, {}, { name: 'Ada' })).toBe('Dear Ada, {{x}}');
  });

  it('have the same errors and limits', () => {
    const template = parseTemplate('{{a}}');
    expect(() => renderTemplate(template, {}, {})).toThrow(MissingVariablesError);
    expect(() => renderTemplate(template, {}, { a: 'xx' }, { maxLength: 1 })).toThrow(RenderedPromptTooLargeError);
  });
});
