import { Alert, Badge, Button, Group, Paper, Stack, Text } from '@mantine/core';
import {
  MissingVariablesError,
  parseTemplate,
  RenderedPromptTooLargeError,
  renderMessages,
  renderTemplate,
  type ContentPart,
  type Message,
  type Placeholder,
  type VariableDefinitions,
} from 'prompt-gateway-client/template';
import { useState, type ReactNode } from 'react';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import type { JsonValue } from './exact-json.ts';
import { isShownImage } from './image-url.ts';
import { ImageView } from './image-view.tsx';
import classes from './preview.module.css';

interface PreviewProps {
  readonly messages: readonly Message<string>[];
  readonly definitions: VariableDefinitions;
  readonly values: Readonly<Record<string, JsonValue>>;
}

/** A piece of a rendered text. `name` says which variable it came from; without `text` its value is missing. */
interface Piece {
  readonly text: string | undefined;
  readonly name: string | undefined;
}

/** More characters and pieces than this of one text are shown only on demand. */
const shownCharacters = 20_000;
const shownPieces = 2_000;

/** The messages as an invocation would send them, made by the renderer of the service. Missing values are marked. */
export function Preview({ messages, definitions, values }: PreviewProps): ReactNode {
  const { prompts } = useTexts();
  const format = useFormat();
  const texts = prompts.preview;
  const outcome = renderOutcome({ messages, definitions, values });
  return (
    <Stack gap="sm">
      {outcome.missing.length > 0 && (
        <Text size="sm" c="var(--mantine-color-error)">
          {texts.missing(format.list(outcome.missing.slice(0, 10)), Math.max(0, outcome.missing.length - 10))}
        </Text>
      )}
      {outcome.unknown.length > 0 && (
        <Text size="sm" c="dimmed">
          {texts.unknown(format.list(outcome.unknown.slice(0, 10)))}
        </Text>
      )}
      {outcome.tooLarge && <Alert color="red">{texts.tooLarge}</Alert>}
      {messages.map((message, index) => (
        <Paper key={index} withBorder p="sm">
          <Group gap="xs" mb={6}>
            <Badge size="sm" variant="light" color="gray">
              {prompts.roles[message.role] ?? message.role}
            </Badge>
          </Group>
          <Stack gap="xs">
            {partsOf(message.content).map((part, position) => (
              <RenderedPart key={position} part={part} definitions={definitions} values={values} />
            ))}
          </Stack>
        </Paper>
      ))}
    </Stack>
  );
}

/** A text with its values, or an image at its rendered address. */
function RenderedPart({
  part: { type, text, url = '' },
  definitions,
  values,
}: Pick<PreviewProps, 'definitions' | 'values'> & { part: ContentPart }): ReactNode {
  const { prompts } = useTexts();
  if (type !== 'image') return <RenderedText pieces={piecesOf(text ?? '', definitions, values)} />;
  if (isShownImage(url)) return <ImageView url={url} label={prompts.parts.shown} />;
  const pieces = piecesOf(url, definitions, values);
  const isWhole = pieces.every((piece) => piece.text !== undefined);
  if (!isWhole) return <RenderedText pieces={pieces} />;
  return <ImageView url={pieces.map((piece) => piece.text).join('')} label={prompts.parts.shown} />;
}

function partsOf(content: Message['content']): readonly ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function RenderedText({ pieces }: { pieces: readonly Piece[] }): ReactNode {
  const { shared, prompts } = useTexts();
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? pieces : beginning(pieces);
  const isCut = shown.length < pieces.length || shown.at(-1) !== pieces.at(-1);
  if (pieces.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {prompts.preview.empty}
      </Text>
    );
  }
  return (
    <>
      <div className={classes.text}>
        {shown.map(({ text, name }, index) =>
          name === undefined ? (
            text
          ) : text === undefined ? (
            <mark key={index} className={classes.missing} title={prompts.preview.noValue(name)}>
              {name}
            </mark>
          ) : (
            <span key={index} className={classes.value} title={name}>
              {text}
            </span>
          ),
        )}
        {isCut && '…'}
      </div>
      {isCut && (
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => {
            setWhole(true);
          }}
        >
          {shared.show}
        </Button>
      )}
    </>
  );
}

function renderOutcome({ messages, definitions, values }: PreviewProps): {
  missing: readonly string[];
  unknown: readonly string[];
  tooLarge: boolean;
} {
  try {
    const { unknown } = renderMessages(messages, definitions, values);
    return { missing: [], unknown, tooLarge: false };
  } catch (error) {
    if (error instanceof MissingVariablesError)
      return { missing: error.names, unknown: error.unknown, tooLarge: false };
    if (error instanceof RenderedPromptTooLargeError) return { missing: [], unknown: [], tooLarge: true };
    throw error;
  }
}

function piecesOf(content: string, definitions: VariableDefinitions, values: PreviewProps['values']): Piece[] {
  return parseTemplate(content).map((part) =>
    typeof part === 'string'
      ? { text: part, name: undefined }
      : { text: renderedPlaceholder(part, definitions, values), name: part.name },
  );
}

/** Renders one placeholder alone, so that another that lacks its value does not prevent it. */
function renderedPlaceholder(
  placeholder: Placeholder,
  definitions: VariableDefinitions,
  values: PreviewProps['values'],
): string | undefined {
  const { name } = placeholder;
  const own = Object.hasOwn(definitions, name) ? Object.fromEntries([[name, definitions[name] ?? {}]]) : {};
  try {
    return renderTemplate([placeholder], own, values);
  } catch (error) {
    if (error instanceof MissingVariablesError || error instanceof RenderedPromptTooLargeError) return undefined;
    throw error;
  }
}

function beginning(pieces: readonly Piece[]): Piece[] {
  const found: Piece[] = [];
  let left = shownCharacters;
  for (const piece of pieces) {
    if (left <= 0 || found.length >= shownPieces) break;
    const length = piece.text?.length ?? 0;
    found.push(length <= left ? piece : { ...piece, text: piece.text?.slice(0, left) });
    left -= length;
  }
  return found;
}
