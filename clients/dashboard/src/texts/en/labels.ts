export const labels = {
  title: 'Labels',
  description:
    'Applications invoke a prompt by a label, such as production. A label names one version until it is moved.',
  badge: (name: string, version: number) => `${name} → v${version}`,
  more: (count: number) => `+${count} labels`,
  noScope: 'Your API key cannot move labels. It needs the scope prompts:release.',
  empty: 'No labels yet. Invocations that name no version run the latest one.',
  columns: { name: 'Label', version: 'Version', moved: 'Moved', by: 'By' },
  new: 'New label',
  move: 'Move',
  moveOf: (name: string) => `Move ${name}`,
  history: 'History',
  delete: 'Delete',
  moreOf: (name: string) => `More actions for ${name}`,
  setOn: (version: number) => `Set a label on version ${version}`,
  set: 'Label',
  form: {
    newTitle: 'Set a label',
    moveTitle: (name: string) => `Move ${name}`,
    name: 'Label',
    namePlaceholder: 'production',
    nameHint: 'A new label, or one to move.',
    nameMistake:
      'Begin with a lower-case letter, go on with lower-case letters, digits and hyphens; at most 32 characters; not “latest”.',
    version: 'Version',
    versionHint: 'The version that it names then.',
    difference: (name: string, from: number, to: number) => `What changes for ${name}: v${from} → v${to}`,
    creates: (name: string, version: number) => `${name} is a new label. Invocations by it run version ${version}.`,
    same: (name: string, version: number) => `${name} names version ${version} already.`,
    effect: 'The next invocation by this label runs the new version.',
    breaking: 'This can break callers',
    acceptWarnings: (version: number) => `The text of version ${version} is intended as it is.`,
    createSubmit: (name: string, version: number) => `Create ${name} → v${version}`,
    moveSubmit: (name: string, version: number) => `Move ${name} to v${version}`,
    done: (name: string, version: number) => `${name} names version ${version} now.`,
  },
  cannotRun: {
    noProvider: (version: number) =>
      `Version ${version} has no provider. Invocations by this label fail, unless they name one themselves.`,
    notConfigured: (version: number, provider: string) =>
      `Version ${version} runs on ${provider}, which is not configured. Invocations by this label fail until the operator configures it.`,
  },
  meanwhile: {
    title: 'Changed in the meantime',
    moved: (name: string, version: number, by: string) => `${by} has moved ${name} to version ${version}.`,
    deleted: (name: string) => `${name} has been deleted.`,
    nothingDone: 'Nothing was changed. Check it again before you confirm.',
  },
  moves: {
    title: (name: string) => `History of ${name}`,
    columns: { version: 'Version', moved: 'When', by: 'By', breaking: 'Can break callers' },
    deleted: 'Deleted',
  },
  deletion: {
    title: (name: string) => `Delete ${name}?`,
    text: (name: string, version: number) =>
      `${name} names version ${version}. Invocations by this label are refused from then on. Its history stays.`,
    submit: 'Delete label',
    done: (name: string) => `${name} is deleted.`,
  },
  run: { versions: 'Versions', labels: 'Labels' },
};
