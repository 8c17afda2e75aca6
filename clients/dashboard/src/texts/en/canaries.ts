export const canaries = {
  start: 'Start a canary',
  startTitle: (label: string) => `Canary of ${label}`,
  changeTitle: (label: string) => `Change the canary of ${label}`,
  title: (label: string, version: number) => `Canary of ${label}: version ${version}`,
  share: (share: string, version: number) => `${share} run version ${version}`,
  form: {
    explanation: (label: string, version: number) =>
      `A share of the invocations by ${label} runs another version. If it fails more often than version ${version}, all of them run version ${version} again within seconds. It watches failures, not how good answers are.`,
    version: 'Version of the canary',
    share: 'Share of the invocations',
    hours: 'Hours from now',
    promotes: 'Promote it at the end',
    promotesHint: 'Else it goes back at the end of the hours.',
    minRequests: 'If it has had so many invocations',
    submit: (version: number, share: string) => `Run version ${version} in ${share}`,
    change: 'Change the canary',
    done: (label: string, version: number) => `A share of ${label} runs version ${version} now.`,
    changed: (label: string) => `The canary of ${label} is changed.`,
  },
  statuses: {
    failures: 'Rolled back',
    time: 'Ended',
    'promoted-at-end': 'Promoted',
    promoted: 'Promoted',
    stopped: 'Ended',
    'label-moved': 'Ended',
    'label-deleted': 'Ended',
  } as Readonly<Record<string, string>>,
  running: 'Running',
  runs: (share: string, label: string, version: number, stable: number) =>
    `${share} of the invocations by ${label} run version ${version}, the others version ${stable}.`,
  since: (author: string, when: string) => `Started by ${author} ${when}.`,
  at: (time: string) => `at ${time}`,
  on: (moment: string) => `on ${moment}`,
  distant: (when: string, distance: string) => `${when} (${distance})`,
  next: {
    back: (when: string, stable: number) => `${when} it goes back to version ${stable}, unless promoted.`,
    tooFew: (when: string, stable: number, wanted: string, version: number) =>
      `${when} it goes back to version ${stable}, unless version ${version} has had ${wanted} invocations by then or is promoted.`,
    promotes: (when: string, label: string, version: number) =>
      `${when} ${label} moves to version ${version}, unless that fails more often until then.`,
    over: 'Its hours are over: it ends within seconds.',
    fails: (stable: number) => `It fails more often: all run version ${stable} again within seconds.`,
  },
  ended: {
    failures: (when: string, version: number, stable: number) =>
      `It ended by itself ${when}, because version ${version} failed more often. All invocations run version ${stable} again.`,
    time: (when: string, _: number, stable: number) =>
      `Its hours were over ${when}. All invocations run version ${stable} again.`,
    'promoted-at-end': (when: string, version: number) =>
      `Its hours were over ${when}, and the label moved to version ${version}.`,
    promoted: (when: string, version: number) => `It was promoted ${when}: the label names version ${version}.`,
    stopped: (when: string, _: number, stable: number) =>
      `Somebody ended it ${when}. All invocations run version ${stable} again.`,
    'label-moved': (when: string) => `It ended ${when}, because somebody moved the label.`,
    'label-deleted': (when: string) => `It ended ${when}, because somebody deleted the label.`,
  } as Readonly<Record<string, (when: string, version: number, stable: number) => string>>,
  otherwise: (when: string) => `It ended ${when}.`,
  notPromoted: (wanted: string) => `It would have been promoted after ${wanted} invocations.`,
  overridden: (reason: string) => `Started past the gate, because: ${reason}`,
  counts: 'Invocations of both versions',
  columns: { version: 'Version', requests: 'Invocations', failures: 'Failures', rate: 'Rate' },
  canary: (version: number) => `Version ${version} (canary)`,
  stable: (version: number) => `Version ${version}`,
  atLeast: (count: string) => `${count} or more`,
  atMost: (rate: string) => `at most ${rate}`,
  notYet: 'Nothing is counted yet. Invocations that may use the cache do not count.',
  evidence: {
    title: 'Evidence that the canary fails more often',
    of: (value: string, threshold: string) => `${value} of ${threshold}`,
    chart: (value: string, threshold: string) =>
      `Evidence ${value}. 1 says nothing, and at ${threshold} it is rolled back.`,
    nothing: 'says nothing',
    back: 'rolled back',
    text: (threshold: string) =>
      `How much more probable these failures are if it fails more often. It can be looked at all day: of 100 versions that fail equally often, at most one ever reaches ${threshold}.`,
    excluded: (version: number, ratio: string) =>
      `The failures speak as strongly against version ${version} failing ${ratio} times as often.`,
  },
  feedback: (canary: string, stable: string) => `Feedback of the last day, which does not count: ${canary} · ${stable}`,
  feedbackOf: (version: number, words: string) => `version ${version}: ${words}`,
  change: 'Change',
  end: 'End it',
  endTitle: (label: string) => `End the canary of ${label}?`,
  endText: (label: string, stable: number) =>
    `All invocations by ${label} run version ${stable} from then on. What was counted stays in the history.`,
  endDone: (label: string) => `The canary of ${label} has ended.`,
  promote: 'Promote',
  promoteTitle: (label: string, version: number) => `Move ${label} to version ${version}?`,
  promoteText: (label: string, version: number) =>
    `This ends the canary, and all invocations by ${label} run version ${version} from then on.`,
  promoteDone: (label: string, version: number) => `${label} names version ${version} now.`,
  records: {
    canary: 'Canary',
    arm: 'Drawn for',
    arms: { canary: 'The canary', stable: 'The version of the label' } as Readonly<Record<string, string>>,
    link: 'Invocations',
    linkOf: (name: string) => `Invocations of ${name}`,
  },
  move: {
    column: 'Canary',
    runs: (version: number, share: string) => `Version ${version} in ${share}`,
    ended: (status: string, version: number) => `${status}: version ${version}`,
    arms: (canary: string, stable: string) => `${canary} failed, beside ${stable}`,
    arm: (failures: string, requests: string) => `${failures} of ${requests}`,
  },
};
