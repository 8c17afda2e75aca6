/** The exports of `@jest/globals` for modules that native-runner.ts loads. Each use goes to the current test file. */
function current(name: string): unknown {
  const now = (): object => {
    const globals = Reflect.get(globalThis, Symbol.for('globals of the test file')) as Record<string, object>;
    return globals[name] ?? {};
  };
  return new Proxy(() => undefined, {
    apply: (_target, self, parameters) => Reflect.apply(now() as () => unknown, self, parameters) as unknown,
    get: (_target, key) => Reflect.get(now(), key) as unknown,
  });
}

export const describe = current('describe');
export const it = current('it');
export const expect = current('expect');
export const beforeAll = current('beforeAll');
export const beforeEach = current('beforeEach');
export const afterAll = current('afterAll');
export const afterEach = current('afterEach');
