import type { Schemas } from 'prompt-gateway-client';
import type { Format } from '../../../shared/format.ts';
import type { canaries } from '../../../texts/en/canaries.ts';

type Texts = typeof canaries;
type Canary = Schemas['Canary'];
type Arm = Schemas['CanaryArm'];

/** What happens next, or why it has ended. */
export function canarySentence(canary: Canary, label: string, now: number, texts: Texts, format: Format): string {
  const { version, stable_version: stable, ended, ends_at: end, evidence = 0, threshold = Infinity, promote } = canary;
  const wanted = promote === undefined ? '' : format.number(promote.min_requests);
  if (ended !== undefined) {
    const when = momentOf(ended.at, now, texts, format);
    const sentence = texts.ended[ended.reason]?.(when, version, stable) ?? texts.otherwise(when);
    return ended.reason === 'time' && wanted !== '' ? `${sentence} ${texts.notPromoted(wanted)}` : sentence;
  }
  if (evidence >= threshold) return texts.next.fails(stable);
  if (Date.parse(end) <= now) return texts.next.over;
  const when = capitalized(texts.distant(momentOf(end, now, texts, format), format.relative(end, now)));
  if (canary.at_end === 'promoted') return texts.next.promotes(when, label, version);
  return wanted === '' ? texts.next.back(when, stable) : texts.next.tooFew(when, stable, wanted, version);
}

/** `at 3:59 PM`, or with the day if it is not today. */
export function momentOf(iso: string, now: number, texts: Texts, format: Format): string {
  const isToday = new Date(iso).toDateString() === new Date(now).toDateString();
  return isToday ? texts.at(format.time(iso)) : texts.on(format.moment(iso));
}

/** What a move of a label did to its canary. */
export function moveSentence(canary: Canary, texts: Texts, format: Format): string {
  const { version, share, ended, canary: other, stable } = canary;
  if (ended === undefined) return texts.move.runs(version, format.percent(share));
  const status = texts.move.ended(texts.statuses[ended.reason] ?? ended.reason, version);
  if (other === undefined || stable === undefined) return status;
  const arm = (one: Arm): string => texts.move.arm(format.number(one.failures), requestsOf(one, texts, format));
  return `${status}. ${texts.move.arms(arm(other), arm(stable))}`;
}

/** `2,187`, or `10,000 or more` */
export function requestsOf({ requests, requests_is_minimum: isMinimum }: Arm, texts: Texts, format: Format): string {
  const count = format.number(requests);
  return isMinimum === true ? texts.atLeast(count) : count;
}

/** `2.5%`, or a dash without any invocation. */
export function rateOf(arm: Arm, none: string, texts: Texts, format: Format): string {
  const { requests, failures, requests_is_minimum: isMinimum } = arm;
  if (requests === 0) return none;
  const rate = format.percent(failures / requests);
  return isMinimum === true ? texts.atMost(rate) : rate;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
