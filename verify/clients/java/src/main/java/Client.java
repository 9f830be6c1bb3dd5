import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.TokenStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** LangChain4j against a server: an answer, a stream, and assistants that call a tool, whole and streamed. */
public class Client {
  interface Assistant {
    String chat(String text);
  }

  interface Streaming {
    TokenStream chat(String text);
  }

  public static class Weather {
    final List<String> asked = new ArrayList<>();

    @Tool("The weather of a city.")
    public String weather(@P("the city") String city) {
      asked.add(city);
      return "It is sunny in " + city + ".";
    }
  }

  static void check(boolean isGood, String what) {
    if (!isGood) throw new IllegalStateException(what);
  }

  static String streamed(Streaming assistant, String text) throws Exception {
    StringBuilder pieces = new StringBuilder();
    CompletableFuture<String> whole = new CompletableFuture<>();
    assistant.chat(text).onPartialResponse(pieces::append)
        .onCompleteResponse(answer -> whole.complete(answer.aiMessage().text())).onError(whole::completeExceptionally).start();
    String answer = whole.get(60, TimeUnit.SECONDS);
    check(pieces.toString().contains(answer), "pieces: " + pieces);
    return answer;
  }

  public static void main(String[] args) throws Exception {
    OpenAiChatModel model = OpenAiChatModel.builder().baseUrl(args[0]).apiKey("none").modelName("divisi").maxRetries(0).build();
    OpenAiStreamingChatModel streaming =
        OpenAiStreamingChatModel.builder().baseUrl(args[0]).apiKey("none").modelName("divisi").build();
    check("hello".equals(model.chat("Say: hello")), "an answer");
    check("hello".equals(streamed(AiServices.create(Streaming.class, streaming), "Say: hello")), "a stream");

    Weather tools = new Weather();
    String answer = AiServices.builder(Assistant.class).chatModel(model).tools(tools).build().chat("What is the weather in Paris?");
    check(tools.asked.contains("Paris") && answer.contains("sunny in Paris"), "a tool loop: " + answer);

    Weather others = new Weather();
    Streaming assistant = AiServices.builder(Streaming.class).streamingChatModel(streaming).tools(others).build();
    String said = streamed(assistant, "What is the weather in Paris?");
    check(others.asked.contains("Paris") && said.contains("sunny in Paris"), "a streamed tool loop: " + said);
    System.exit(0);
  }
}
