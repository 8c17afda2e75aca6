import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.OrdersApi;
import org.openapitools.client.api.PromptsApi;
import org.openapitools.client.model.InvokePrompt422Problem;
import org.openapitools.client.model.InvokeRequest;
import org.openapitools.client.model.OrderCreate;
import org.openapitools.client.model.PromptCreate;

public class Call {
  private static final ObjectMapper json = ApiClient.createDefaultObjectMapper();

  private static <Value> Value given(Class<Value> type, String name) throws Exception {
    return json.readValue(System.getenv(name), type);
  }

  public static void main(String[] args) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("GATEWAY_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv("GATEWAY_KEY")));
    var prompts = new PromptsApi(client);

    var prompt = prompts.createPrompt(given(PromptCreate.class, "PROMPT"), null);
    var id = prompt.getId();
    var result = prompts.invokePrompt(id, null, null, null, null, given(InvokeRequest.class, "INVOCATION"));
    var page = prompts.listPrompts(null, null, null, null);
    var order = new OrdersApi(client).createOrder(given(OrderCreate.class, "ORDER"), null);
    String problem = null;
    try {
      prompts.invokePrompt(id, null, null, null, null, new InvokeRequest());
    } catch (ApiException error) {
      problem = json.readValue(error.getResponseBody(), InvokePrompt422Problem.class).getDetail();
    }
    System.out.println(
        json.writeValueAsString(
            Map.of(
                "text", result.getText(),
                "listed", page.getData().stream().anyMatch(one -> one.getId().equals(id)),
                "total", order.getTotal(),
                "problem", problem)));
  }
}
