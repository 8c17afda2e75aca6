/** Of how answers are generated: what all sections use. Each section has its own texts beside it. */
export const generation = {
  language: 'en' as 'en' | 'de',
  title: 'Generation',
  description: 'How the answer is generated. What is not set is the provider’s default.',
  show: 'Set parameters, tools and more',
  providerDefault: 'Provider’s default',
  yes: 'Yes',
  no: 'No',
  mistakes: {
    syntax: 'This is not valid JSON.',
    inexact: 'A number has more digits than can be stored exactly. Write it as a string.',
    'no-object': 'Write one JSON object.',
    name: 'Use 1 to 64 letters, digits, _ and -.',
    taken: 'This name is taken.',
    provider: 'Choose a provider.',
  },
};
