import { isMediaType, type Change } from './changes.ts';
import type { Surface } from './surface.ts';

/**
 * Names a change, such as `createOrder answer 201 .items[].price: removed`. The place does not contain types and media
 * types.
 *
 * @param operations of the older surface
 */
export function describeChange(change: Change, operations: Surface): string {
  return `${describePlace(change, operations)}: ${describeEffect(change)}`;
}

/** Whether the key names a part of the contract, and not a rule for such a part. */
function isPart(change: Change): boolean {
  const { path, key } = change;
  return (
    path.length === 2 || key.startsWith('.') || isMediaType(change) || (path[2] === 'answers' && path.length === 4)
  );
}

function describePlace(change: Change, operations: Surface): string {
  const path = isPart(change) ? change.path : change.path.slice(0, -1);
  const media = isMediaType(change) ? change.key : '';
  const [area, name = '', part = '', ...below] = path;
  if (area === 'schemes') return `authentication ${name}`;
  if (area === 'events') return join('event', name, part, describeSchemaPath(below));
  const operation = String((operations[name] as Surface)['operationId']);
  switch (part) {
    case 'parameters':
      return join(operation, 'parameter', withoutDot(describeSchemaPath(below)));
    case 'answers': {
      const [status = '', kind, ...rest] = below;
      const place = describeSchemaPath(rest);
      return join(operation, 'answer', status, kind === 'headers' ? `header ${withoutDot(place)}` : place, media);
    }
    default:
      return join(operation, part.replace(/^(operationId|tag)$/, ''), describeSchemaPath(below), media);
  }
}

function describeSchemaPath(keys: readonly string[]): string {
  return keys
    .map((key) => {
      if (key.startsWith('.') || key === '[]' || key === '{}') return key;
      if (key === 'names') return '(names)';
      const kind = key.indexOf(' ');
      return kind < 0 ? '' : `(${key.slice(kind + 1)})`;
    })
    .join('');
}

function withoutDot(place: string): string {
  return place.replace(/^\./, '');
}

function join(...words: readonly string[]): string {
  return words.filter((word) => word !== '').join(' ');
}

function describeEffect(change: Change): string {
  const { type, key, old, new: current } = change;
  if (type === 'CHANGE' || ['string', 'number'].includes(typeof (old ?? current))) {
    return `${key} ${String(old ?? 'none')} → ${String(current ?? 'none')}`;
  }
  const verb = type === 'CREATE' ? 'added' : 'removed';
  if (isPart(change)) return verb;
  if (key === 'required') return type === 'CREATE' ? 'required now' : 'no longer required';
  if (key === 'only' || key === 'known') return `list of values ${verb}`;
  return key.startsWith('=') ? `value ${key.slice(1)} ${verb}` : `${key} ${verb}`;
}
