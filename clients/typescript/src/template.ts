export { parseTemplate, type Placeholder, type Template } from './generated/template/parse.ts';
export { releaseWarnings, type PromptContract, type ReleaseWarning } from './generated/template/release-warnings.ts';
export {
  MissingVariablesError,
  RenderedPromptTooLargeError,
  renderMessages,
  renderTemplate,
  type Content,
  type ContentPart,
  type Message,
  type RenderLimits,
  type Rendering,
  type VariableDefinition,
  type VariableDefinitions,
} from './generated/template/render.ts';
export { listVariables, type TemplateVariable } from './generated/template/variables.ts';
export { contentWarnings, type ContentWarning } from './generated/template/warnings.ts';
